//! What is assigned to and what a declaration binds.

use oxc_ast::ast::{
    AssignmentTarget, AssignmentTargetMaybeDefault, AssignmentTargetProperty, BindingPattern,
};

use super::{Reader, key};
use crate::tree::BindingTarget;

impl Reader {
    pub(super) fn pattern(&mut self, pattern: &BindingPattern<'_>) -> BindingTarget {
        if !self.nesting.enter() {
            return BindingTarget::Nowhere;
        }
        let target = match pattern {
            BindingPattern::BindingIdentifier(name) => BindingTarget::Name(name.name.to_string()),
            BindingPattern::ObjectPattern(object) => {
                let mut entries: Vec<(Option<String>, BindingTarget)> = Vec::new();
                for property in &object.properties {
                    entries.push((key(&property.key), self.pattern(&property.value)));
                }
                if let Some(rest) = &object.rest {
                    entries.push((None, BindingTarget::Rest(Box::new(self.pattern(&rest.argument)))));
                }
                BindingTarget::Map(entries)
            }
            BindingPattern::ArrayPattern(list) => {
                let mut targets: Vec<BindingTarget> = Vec::new();
                for element in &list.elements {
                    targets
                        .push(element.as_ref().map_or(BindingTarget::Nowhere, |inner| self.pattern(inner)));
                }
                if let Some(rest) = &list.rest {
                    targets.push(BindingTarget::Rest(Box::new(self.pattern(&rest.argument))));
                }
                BindingTarget::List(targets)
            }
            BindingPattern::AssignmentPattern(assigned) => {
                let target = self.pattern(&assigned.left);
                BindingTarget::Default(Box::new(target), self.boxed(&assigned.right))
            }
        };
        self.nesting.leave();
        target
    }

    pub(super) fn target(&mut self, target: &AssignmentTarget<'_>) -> BindingTarget {
        if !self.nesting.enter() {
            return BindingTarget::Nowhere;
        }
        let target = match target {
            AssignmentTarget::AssignmentTargetIdentifier(name) => BindingTarget::Name(name.name.to_string()),
            AssignmentTarget::StaticMemberExpression(member) => {
                BindingTarget::Member(self.expression(&member.object), member.property.name.to_string())
            }
            AssignmentTarget::PrivateFieldExpression(member) => {
                BindingTarget::Member(self.expression(&member.object), format!("#{}", member.field.name))
            }
            AssignmentTarget::ComputedMemberExpression(member) => {
                BindingTarget::Index(self.expression(&member.object), self.expression(&member.expression))
            }
            AssignmentTarget::ArrayAssignmentTarget(list) => {
                let mut targets: Vec<BindingTarget> = Vec::new();
                for element in &list.elements {
                    targets
                        .push(element.as_ref().map_or(BindingTarget::Nowhere, |inner| self.perhaps(inner)));
                }
                if let Some(rest) = &list.rest {
                    targets.push(BindingTarget::Rest(Box::new(self.target(&rest.target))));
                }
                BindingTarget::List(targets)
            }
            AssignmentTarget::ObjectAssignmentTarget(object) => {
                let mut entries: Vec<(Option<String>, BindingTarget)> = Vec::new();
                for property in &object.properties {
                    entries.push(match property {
                        AssignmentTargetProperty::AssignmentTargetPropertyIdentifier(property) => {
                            let name = property.binding.name.to_string();
                            let target = BindingTarget::Name(name.clone());
                            let target = match &property.init {
                                Some(default) => {
                                    BindingTarget::Default(Box::new(target), self.boxed(default))
                                }
                                None => target,
                            };
                            (Some(name), target)
                        }
                        AssignmentTargetProperty::AssignmentTargetPropertyProperty(property) => {
                            (key(&property.name), self.perhaps(&property.binding))
                        }
                    });
                }
                BindingTarget::Map(entries)
            }
            AssignmentTarget::TSAsExpression(_)
            | AssignmentTarget::TSSatisfiesExpression(_)
            | AssignmentTarget::TSNonNullExpression(_)
            | AssignmentTarget::TSTypeAssertion(_) => BindingTarget::Nowhere,
        };
        self.nesting.leave();
        target
    }

    pub(super) fn perhaps(&mut self, target: &AssignmentTargetMaybeDefault<'_>) -> BindingTarget {
        match target {
            AssignmentTargetMaybeDefault::AssignmentTargetWithDefault(assigned) => {
                let inner = self.target(&assigned.binding);
                BindingTarget::Default(Box::new(inner), self.boxed(&assigned.init))
            }
            other => {
                other.as_assignment_target().map_or(BindingTarget::Nowhere, |target| self.target(target))
            }
        }
    }
}
