//! The parts of sentences by which people put work off (ours; `tests/sentences.rs` puts sentences together of others).

/// How much the code does that a text stands beside.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Beside {
    /// It computes nothing.
    Nothing,
    /// It gives back a small expression.
    Small,
    /// It does a few things one after the other.
    Little,
}

/// A part of a sentence by which work is put off.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Frame {
    /// A time in the making of the program: a next version, a prototype, what has to be wired.
    Making,
    /// A time that is not now. Code that looks at no state knows no other time than that of its making; other code does.
    Time,
    /// A mark of unfinished work, which beside code that works may ask for something better.
    Mark,
    /// Something made up, or put in the place of something.
    Pretence,
    /// Something that is not exact, which code may well be meant to be.
    Loose,
    /// Something left out.
    Omission,
    /// Others, who are to do it.
    Others,
    /// Tests, tools and demonstrations that are to be content.
    Audience,
    /// A place where the code is to stand, or that the author gave up.
    Place,
    /// Something that is not there.
    Absence,
    /// The right thing, as opposed to this.
    Real,
    /// The author.
    Author,
    /// A reason by which the code is right as it is.
    Reason,
}

impl Frame {
    /// What one part counts beside code that does this much.
    pub(super) fn weight(self, beside: Beside) -> i32 {
        match (self, beside) {
            (Self::Audience | Self::Place, _) => 2,
            (
                Self::Making | Self::Pretence | Self::Omission | Self::Others | Self::Absence | Self::Real,
                _,
            )
            | (Self::Time | Self::Loose, Beside::Nothing | Beside::Small)
            | (Self::Mark | Self::Author, Beside::Nothing) => 1,
            (Self::Time | Self::Loose, Beside::Little)
            | (Self::Mark | Self::Author, Beside::Small | Beside::Little) => 0,
            (Self::Reason, _) => -2,
        }
    }

    /// Whether a sentence can admit something by this part; the others only add to one that does.
    pub(super) fn admits(self) -> bool {
        match self {
            Self::Making
            | Self::Time
            | Self::Mark
            | Self::Pretence
            | Self::Loose
            | Self::Omission
            | Self::Others
            | Self::Audience
            | Self::Place => true,
            Self::Absence | Self::Real | Self::Author | Self::Reason => false,
        }
    }
}

/// The parts, longer ones first: a word counts for one of them. `a|b` is either, `_` one word, `~` up to three; `^` is the beginning and `$`
/// the end of the text.
pub(super) const PARTS: &[(Frame, &str)] = &[
    (Frame::Reason, "no|not|don't|doesn't|never need|needs|needed|necessary|required"),
    (Frame::Reason, "nothing else"),
    (
        Frame::Reason,
        "^ temporary|dummy|fake|mock|sample|pending|placeholder|simulated _ ~ have|has|are|may|must|need|needs|never",
    ),
    (Frame::Reason, "this|that|it|which is|are fine|ok|safe|enough|correct|right"),
    (Frame::Reason, "later|set|filled|given by the|a|its|their"),
    (Frame::Reason, "best effort"),
    (Frame::Reason, "by definition|design"),
    (Frame::Reason, "on purpose"),
    (Frame::Reason, "if|unless|whether"),
    (
        Frame::Place,
        "comes|come|coming|follows|lands|arrives with|in ~ phase|milestone|sprint|version|release|pr|stage _",
    ),
    (Frame::Place, "go|goes|come|comes|belong|belongs in here"),
    (Frame::Place, "go|goes|come|comes|belong|belongs here"),
    (Frame::Place, "ran|run out of"),
    (Frame::Place, "too hard|complicated|difficult"),
    (Frame::Place, "fill|fills|filling|filled this|in|me|out|it"),
    (Frame::Place, "not sure how|what"),
    (Frame::Place, "don't know how"),
    (Frame::Place, "^ swap|replace|exchange|substitute for|with|by"),
    (Frame::Place, "^ swap|replace|exchange this|me|it"),
    (
        Frame::Audience,
        "make|makes|making|keep|keeps|so|let|lets|until ~ test|tests|check|checks|checker|compiler|linter|ci|build ~ pass|passes|green|happy|quiet|content|compile|compiles|run|work",
    ),
    (Frame::Audience, "tests|test|demo|ui use|uses|need|needs|expect|expects|exercise|cover|look"),
    (Frame::Audience, "from|of the|our tests"),
    (
        Frame::Audience,
        "satisfy|satisfies|please|pleases ~ compiler|checker|linter|mypy|tests|types|interface",
    ),
    (Frame::Audience, "works|work|enough|okay|ok|fine for|in the|unit|our|a tests|demo|unit|test"),
    (Frame::Audience, "works|work|enough|okay|ok|fine for tests|demos|testing"),
    (Frame::Audience, "for the|a|our demo|presentation|screenshot|screenshots"),
    (Frame::Audience, "for testing|demo|demonstration purposes"),
    (Frame::Making, "for the moment|time"),
    (Frame::Making, "for now"),
    (Frame::Time, "right now"),
    (Frame::Making, "at the|this moment|stage"),
    (Frame::Making, "at some point"),
    (Frame::Time, "some day|time later"),
    (Frame::Making, "the time being"),
    (Frame::Time, "one|another day"),
    (Frame::Time, "until|till|til then"),
    (
        Frame::Making,
        "in|for|with|during|after the|a|an|some|one|another next|later|future|following|upcoming|separate|second _",
    ),
    (
        Frame::Making,
        "next|later|future|following|upcoming|separate pr|release|version|commit|step|iteration|sprint|milestone|change|patch|ticket|story|task",
    ),
    (
        Frame::Time,
        "come|comes|coming|arrive|arrives|land|lands|follow|follows later|soon|next|afterwards|with|in",
    ),
    (
        Frame::Place,
        "until|once|till we|i|somebody|someone have|get|know|can|got|add|set|wire|decide|implement|find|figure",
    ),
    (Frame::Making, "phase|milestone|sprint|stage|iteration|version|part 2|3|4|two|three|ii"),
    (Frame::Time, "still|yet ~ to be"),
    (
        Frame::Time,
        "still ~ to|has|have|need|needs|missing|open|waiting|building|being|being|absent|unfinished",
    ),
    (Frame::Time, "to|will|would|shall follow|come"),
    (
        Frame::Making,
        "will|shall|should|must|gets|get|to|needs|'ll be ~ written|done|added|hooked|wired|implemented|filled|replaced|swapped|built|finished|completed|decided|determined|defined|ported|migrated|integrated|connected|handled|supported|plugged|supplied|provided|moved|computed|calculated|fetched|loaded|read|taken|coded|developed|extended",
    ),
    (Frame::Making, "needs|wants writing|doing|finishing|implementing|wiring|filling|building"),
    (
        Frame::Time,
        "once|when|until|till|after|before ~ is|are|has|have|lands|land|exists|exist|arrives|ships|supports|can|get|gets|got|we|i|that's|it's|we've|there's",
    ),
    (Frame::Time, "as soon as"),
    (Frame::Time, "wait|waits|waiting for|on|until"),
    (
        Frame::Time,
        "haven't|hasn't|never ~ been|gotten|got|started|begun|done|written|built|reached|had|come|landed|merged",
    ),
    (Frame::Time, "have|has not|never|yet ~ been|gotten|got|started|begun|reached|had|landed|merged"),
    (Frame::Making, "not started|finished|done|there|written|built|coded|merged|landed"),
    (Frame::Making, "work in progress"),
    (Frame::Making, "under construction|development|way"),
    (Frame::Time, "in development|progress"),
    (Frame::Making, "on the|my|our roadmap|list|backlog|way"),
    (Frame::Making, "no|out|didn't|short ~ time"),
    (Frame::Making, "being built|written|developed|done|worked"),
    (
        Frame::Making,
        "someday|provisional|provisionally|follow-up|followup|roadmap|backlog|tbd|wip|mvp|poc|unfinished",
    ),
    (Frame::Mark, concat!("todo|fix", "me")),
    (
        Frame::Time,
        "yet|later|soon|eventually|afterwards|temporary|temporarily|interim|meanwhile|upcoming|pending|prototype|planned|incomplete|currently|until",
    ),
    (Frame::Pretence, "stand|stands|standing|stood in for"),
    (Frame::Pretence, "in place|lieu of"),
    (
        Frame::Loose,
        "instead|rather of|than ~ real|actual|actually|proper|calling|asking|querying|sending|the",
    ),
    (
        Frame::Pretence,
        "call|calls|request|requests|api|backend|query|lookup|check replaced by|with a|an|the|some",
    ),
    (Frame::Pretence, "fall|falls|falling back to|on ~ empty|dummy|nothing|fixed|constant|fake|default"),
    (Frame::Pretence, "good|close enough"),
    (Frame::Loose, "will|should|has|have to? do"),
    (
        Frame::Loose,
        "accept|accepts|accepting|allow|allows|approve|approves|pass|passes|let|lets everything|anything|all|any|everyone|anyone|everybody",
    ),
    (Frame::Pretence, "made up"),
    (Frame::Pretence, "hard coded"),
    (
        Frame::Loose,
        "so|just|simply|only just|simply|return|returns|returning|log|logs|logging|print|prints|echo|pretend|report|say",
    ),
    (Frame::Pretence, "quick and"),
    (Frame::Pretence, "not|isn't|aren't really|actually|real"),
    (Frame::Loose, "as if"),
    (Frame::Loose, "always ~ ok|okay|success|succeeds|successful|healthy|passes|valid|fine|works"),
    (Frame::Loose, "magic number|value"),
    (Frame::Pretence, "poor man's"),
    (
        Frame::Pretence,
        "pretend|pretends|pretending|pretended|made-up|invented|bogus|fake|faked|fakes|faking|dummy|mock|mocked|mocks|canned|stub|stubbed|stubs|placeholder|placeholders|simulate|simulated|simulating|simulates|hardcoded|hard-coded|stand-in|standin|substitute|stopgap",
    ),
    (
        Frame::Loose,
        "workaround|kludge|hack|shortcut|naive|crude|simplistic|simplified|minimal|approximation|rough|guess|guessed|plausible|arbitrary|sample|assume|assumes|assuming",
    ),
    (Frame::Omission, "left|leaving|leave|leaves out|it|this|that|off"),
    (Frame::Omission, "keep|keeps|keeping ~ short|simple|small|brief|readable"),
    (Frame::Omission, "for brevity|simplicity|clarity"),
    (Frame::Omission, "out of|beyond ~ scope"),
    (
        Frame::Loose,
        "not|isn't|aren't|never|doesn't|don't|no ~ handled|covered|checked|validated|verified|tracked|persisted|stored|saved|sent|wired|hooked|plugged|integrated|connected|implemented|supported|computed|evaluated|enforced|honoured|honored|considered",
    ),
    (Frame::Omission, "omitted|elided"),
    (Frame::Loose, "skipped|skips|skipping|skip|ignored|ignores|ignoring|stripped"),
    (
        Frame::Others,
        "someone|somebody|anybody|anyone|whoever|everyone ~ write|writes|do|does|finish|fix|fill|implement|please|needs|need|has|have|should|must|picks|pick|takes|take|wants|want|who|with|else|to|comes|come|can|knows",
    ),
    (
        Frame::Others,
        "another|other|next team|teams|developer|person|people|colleague|agent|dev|session|maintainer",
    ),
    (
        Frame::Others,
        "left|leaving|leave as|to|for ~ reader|user|you|implementer|exercise|team|whoever|developer|maintainer",
    ),
    (Frame::Others, "up to you|whoever|the"),
    (Frame::Others, "^ ask|tell|talk|check with|to|the|our _"),
    (Frame::Others, "^ ask _"),
    (Frame::Others, "please ~ fill|write|implement|finish|complete|add|wire"),
    (Frame::Others, "whoever|somebody|someone"),
    (Frame::Others, "your ~ here|code|logic|implementation|own"),
    (
        Frame::Absence,
        "no ~ available|yet|backend|api|key|access|server|database|endpoint|service|model|pipeline|way",
    ),
    (
        Frame::Absence,
        "not|isn't|aren't|wasn't|weren't|doesn't|don't|didn't|can't|cannot|won't|couldn't|without|unable|lack|lacks|lacking|missing|unavailable|absent|disabled|no|hard|tricky",
    ),
    (Frame::Absence, "needs|need|requires|require|depends a|an|the|on|some|more|real|_"),
    (Frame::Real, "the right|correct|proper|real|whole thing|way|one|solution|check|work"),
    (Frame::Real, "real|actual|actually|proper|properly|production|genuine|ideally|nicer"),
    (Frame::Author, "i|we|us|our|my|i'll|we'll|i've|we've|we're|i'm|let's|me"),
    (
        Frame::Reason,
        "because|since|already|means|indicates|matter|matters|const|removed|override|overrides|overridden|overriding|subclass|subclasses|implementors|implementations|optional|posix|rfc|spec|specification|identity|invariant|guaranteed|deliberately|intentionally|unused|deprecated|legacy|harmless|irrelevant|nobody|compatibility|unlike|http|https|see|windows|linux|macos|unix|platform|platforms|default|defaults|safe|safely",
    ),
    (Frame::Audience, "just|only for|in tests|test|testing|demos"),
    (Frame::Time, "rest ~ later|follows|missing"),
    (Frame::Others, "volunteers|volunteer|contributors|contributions welcome|wanted|needed"),
    (Frame::Time, "did|does not|n't ~ finish|get|make"),
    (Frame::Time, "didn't|doesn't|couldn't ~ finish|get|make"),
    (Frame::Place, "gave|giving up on|here|at|on|because"),
    (Frame::Place, "would|should|must|could|can ~ here $"),
    (
        Frame::Place,
        "^ validate|check|verify|parse|handle|call|send|compute|calculate|do|load|save|store|query|fetch|look|run|apply|insert|add|put|write|process|convert|render|build|implement|use|decode|encode|read|update|delete|create ~ ~ ~ here $",
    ),
    (Frame::Place, "^ the? real|actual|proper ~ here"),
    (Frame::Place, "^ the? real|actual|proper _ $"),
    (Frame::Place, "^ the? real|actual|proper _ _ $"),
    (Frame::Loose, "nothing|not|never happens|done|written|happen"),
    (Frame::Loose, "does|do nothing|no-op ~ yet|for|until"),
    (Frame::Making, "in the|a next|later|future|following|second step|place|pass|round"),
    (Frame::Time, "ready|available when|once|after"),
];

/// How people whose language is another one say the same, as it stands in a text.
pub(super) const ELSEWHERE: [&str; 62] = [
    // German
    "noch nicht",
    "kommt noch",
    "fehlt noch",
    "kommt später",
    "vorerst",
    "vorläufig",
    "platzhalter",
    "noch zu ",
    "wird noch",
    "muss noch",
    // French
    "pas encore",
    "à compléter",
    "à faire",
    "pour l'instant",
    "pour le moment",
    "plus tard",
    "provisoire",
    "en attendant",
    "à remplacer",
    // Spanish
    "por ahora",
    "de momento",
    "más tarde",
    "más adelante",
    "pendiente",
    "todavía no",
    "aún no",
    "falta implementar",
    "por hacer",
    // Portuguese
    "por enquanto",
    "mais tarde",
    "ainda não",
    "pendente",
    "provisório",
    "falta implementar",
    "a fazer:",
    // Italian
    "per ora",
    "più tardi",
    "ancora da",
    "da completare",
    "da fare",
    "non ancora",
    "provvisori",
    "segnaposto",
    // Chinese, Japanese, Russian, Korean
    "暂时",
    "暂未",
    "稍后",
    "待实现",
    "待完善",
    "占位",
    "尚未",
    "模拟数据",
    "假数据",
    "後で",
    "とりあえず",
    "仮の",
    "未対応",
    "пока ",
    "позже",
    "заглушк",
    "ещё не",
    "나중에",
    "아직",
];
