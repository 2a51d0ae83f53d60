//! Commands without further commands in them.

use super::{FUNCTIONS, Leaning, Maker};
use crate::shells::grammar::Doubt;
use crate::shells::part::ProgramPart;

impl Maker<'_> {
    pub(crate) fn simple(&mut self) -> ProgramPart {
        let leaning = match self.leaning {
            Leaning::Flow => 12,
            Leaning::Both => 3,
            Leaning::Values => 1,
        };
        match self.chance.below(leaning + 2) {
            0 => return self.using(6),
            1 => return self.giving(),
            _ => {}
        }
        let bash = self.is_bash();
        match self.chance.below(12) {
            0..=3 => self.mark(),
            4 => ProgramPart::leaf(self.chance.pick(&["true", "false", ":", "false", "true"])),
            5 => ProgramPart::leaf(self.chance.pick(&[
                "break",
                "continue",
                "break 2",
                "continue 2",
                "return",
                "return 1",
                "return 0",
                "exit",
                "exit 1",
                "exit 0",
                "break",
                "return",
            ])),
            6 => ProgramPart::leaf(self.chance.pick(&[
                "set -e",
                "set +e",
                "set -u",
                "set -e",
                if bash { "set -o pipefail" } else { "set +u" },
                "set -- 1 2",
                "shift",
                "trap - EXIT",
                if bash { "shopt -s lastpipe" } else { "set +e" },
            ])),
            7 => ProgramPart::leaf(self.chance.pick(&[
                "x=1",
                "x=",
                "x=2",
                "y=1",
                "unset x",
                "x=$y",
                "x=1 true",
                "x=$((x+1))",
                "HOME=1",
                if bash { "declare -i x=1+1" } else { "x=3" },
                if bash { "x+=1" } else { "x=4" },
                if bash { "local x=1" } else { "x=5" },
                if bash { "read x <<< 1" } else { "x=1" },
                if bash { "declare -u x=ab" } else { "x=2" },
                if bash { "((x++))" } else { "x=1" },
            ])),
            8 => ProgramPart::leaf(self.chance.pick(&[
                "[ \"$x\" = 1 ]",
                "[ -n \"$x\" ]",
                "[ -z \"$y\" ]",
                "[ $? -eq 0 ]",
                "[ $? = 1 ]",
                "[ -e M0 ]",
                "[ ! -f M1 ]",
                "test -d d",
                "[ $# -gt 0 ]",
                "[ -n \"${x-1}\" ]",
                if bash { "[[ $x == 1 ]]" } else { "[ 1 = 2 ]" },
                if bash { "((x))" } else { "[ 1 = 1 ]" },
                if bash { "[[ -z $zz && $x ]]" } else { "[ -z \"$zz\" ]" },
            ])),
            9 => {
                let number = self.from.max(1) + self.chance.below(FUNCTIONS);
                ProgramPart::leaf(format!("f{number}"))
            }
            10 => ProgramPart::leaf(self.chance.pick(&[
                "echo >nodir/f",
                "echo <nofile",
                "cd nodir",
                "cd d",
                "cd ./d",
                "echo >d",
                "> nodir/f",
                "exec 3<nofile",
                if bash { "logout" } else { "cd d" },
                if bash { "shopt -s execfail" } else { "cd d" },
                if bash { "pushd d >/dev/null" } else { "cd - >/dev/null" },
                if bash { "popd >/dev/null" } else { "cd d" },
            ])),
            _ if self.doubt == Doubt::Some => ProgramPart::leaf(self.chance.pick(&[
                "no_such_program",
                "no_such_program && exit",
                "no_such_program || exit",
                "no_such_program && x=1",
                "./none",
                "exec no_such_program",
                "no_such_program && return",
                "no_such_program && break",
                "no_such_program && f3() { :; }",
            ])),
            _ => self.mark(),
        }
    }
}
