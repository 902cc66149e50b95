//! The kinds of questions.

/// What a question demands of a reader.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Kind {
    /// One member of one record.
    RecordLookup,
    /// What an error line says.
    ErrorInLog,
    /// A fact that no cue word marks, away from the first and last lines.
    UncuedFact,
    /// How many rows fulfil a condition.
    Count,
    /// A sum over all rows.
    Sum,
    /// Whether there is such a row at all; mostly there is none.
    Absence,
    /// The second largest of all rows.
    SecondLargest,
    /// The row that fulfils two conditions, or two rows with a common key.
    Join,
    /// A member of a member.
    NestedField,
    /// An answer beyond ASCII.
    Unicode,
    /// One block among many long ones.
    LongBlocks,
    /// Other rows differ from the right one by a sign.
    NearDuplicate,
    /// The first or last row by date, in rows that are not in that order.
    FirstLast,
}

impl Kind {
    /// All kinds.
    pub const ALL: [Self; 13] = [
        Self::RecordLookup,
        Self::ErrorInLog,
        Self::UncuedFact,
        Self::Count,
        Self::Sum,
        Self::Absence,
        Self::SecondLargest,
        Self::Join,
        Self::NestedField,
        Self::Unicode,
        Self::LongBlocks,
        Self::NearDuplicate,
        Self::FirstLast,
    ];

    /// The name in frame ids and strata.
    pub fn name(self) -> &'static str {
        match self {
            Self::RecordLookup => "record-lookup",
            Self::ErrorInLog => "error-in-log",
            Self::UncuedFact => "uncued-fact",
            Self::Count => "count",
            Self::Sum => "sum",
            Self::Absence => "absence",
            Self::SecondLargest => "second-largest",
            Self::Join => "join",
            Self::NestedField => "nested-field",
            Self::Unicode => "unicode",
            Self::LongBlocks => "long-blocks",
            Self::NearDuplicate => "near-duplicate",
            Self::FirstLast => "first-last",
        }
    }
}
