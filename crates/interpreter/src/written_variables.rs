//! What a call writes because a variable of the environment names it, by the table of the catalogue.

use checkrein_catalogue::{WrittenPlace, WrittenVariable};

use crate::nature::Nature;

use super::call::{Call, Input};
use super::machine::Machine;
use super::shell::VariableContent;
use super::value::Value;

/// The greatest number of places of one variable that are looked at (ours).
const PLACES: usize = 8;

impl Machine<'_> {
    /// Adds what a program writes because the command itself gave it a variable that names the place. What the environment of the agent held
    /// before the command is where the program writes anyway.
    pub(super) fn write_what_variables_name(&mut self, call: &Call, before: usize) {
        if self.away.is_some() || self.shell.variables.is_empty() {
            return;
        }
        let rows = self.table.variables(&call.program, self.catalogue);
        let has_input = call.input != Input::Inherited;
        let words = call.words.iter().filter_map(Value::as_exact);
        for row in rows.iter().filter(|row| row.holds(&words) && (has_input || !row.needs_input)) {
            for place in self.places_given(row) {
                match (row.writes, row.files.iter().next()) {
                    (writes @ (WrittenPlace::Over | WrittenPlace::Behind), None) => {
                        self.write_named_place(&place, writes);
                    }
                    (writes, Some(_)) => {
                        for file in row.files.iter() {
                            self.write_named_place(&format!("{place}/{file}"), writes);
                        }
                    }
                    (WrittenPlace::Below, None) => {
                        let guarded = self.world().guarded();
                        self.note_brought_over(&Value::exact(place), before, &guarded);
                    }
                }
            }
        }
    }

    /// The places that the command itself gave to a variable, each of a list.
    fn places_given(&self, row: &WrittenVariable) -> Vec<String> {
        let given = self.shell.variables.iter().filter(|(name, variable)| {
            let before = row.is_named(name).then(|| self.world().variable(name)).flatten();
            row.is_named(name)
                && (variable.exported || before.is_some())
                && before.as_deref() != text(&variable.content)
        });
        let texts = given.filter_map(|(_, variable)| text(&variable.content));
        let parts = texts.flat_map(|text| text.split(':').take(PLACES));
        parts
            .filter(|place| !place.is_empty() && !matches!(*place, "/dev/null" | "-"))
            .map(str::to_owned)
            .collect()
    }

    fn write_named_place(&mut self, place: &str, writes: WrittenPlace) {
        let before = self.effect_count();
        self.possibly(|machine| machine.write(&Value::exact(place)));
        self.amend(before, |effect| {
            if effect.nature == Nature::Ordinary && writes == WrittenPlace::Behind {
                effect.nature = Nature::Appended;
            }
            "a variable names it".clone_into(&mut effect.note);
        });
    }
}

fn text(content: &VariableContent) -> Option<&str> {
    match content {
        VariableContent::Scalar(value) => value.as_exact(),
        VariableContent::List(_)
        | VariableContent::Map(_)
        | VariableContent::Unknown
        | VariableContent::Unset => None,
    }
}
