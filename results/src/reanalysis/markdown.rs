//! The re-analysis as a page.

use std::fmt::Write as _;

use super::{PublishedCounts, Reading, Reanalysis, input::Count};

/// The page: what was published with its marks, then what follows.
pub fn markdown(counts: &PublishedCounts, read: &Reanalysis) -> String {
    let mut page = format!("# {}\n\n{}\n\n", counts.title, counts.source);
    // Writing to a string cannot fail.
    let _ = write_page(&mut page, counts, read);
    page
}

fn write_page(page: &mut String, counts: &PublishedCounts, read: &Reanalysis) -> std::fmt::Result {
    writeln!(
        page,
        "Margin {}, one-sided alpha {}. Read by the gates of this project; nothing was run again.",
        read.margin, read.alpha
    )?;
    writeln!(page, "\n## What was published\n")?;
    writeln!(page, "| arm | endpoint | n | raw right | arm right | losses | gains |\n|---|---|--:|--:|--:|--:|--:|")?;
    for table in &counts.tables {
        let optional = |count: &Option<Count>| count.as_ref().map_or_else(|| "not published".to_owned(), marked);
        writeln!(
            page,
            "| {} | {} | {} | {} | {} | {} | {} |",
            table.arm,
            table.endpoint,
            marked(&table.n),
            marked(&table.raw_right),
            marked(&table.arm_right),
            optional(&table.loss),
            optional(&table.gain)
        )?;
    }
    writeln!(page, "\nᵖ published, ᶜ computed from what is published, ⁱ inferred.")?;
    for templates in &counts.templates {
        let endpoints: Vec<String> = templates.endpoints.iter().map(ToString::to_string).collect();
        writeln!(
            page,
            "\nTasks behind {} were made from {} templates; {}.",
            endpoints.join(" and "),
            marked(&templates.count),
            templates.sizes
        )?;
    }
    writeln!(page, "\n## What it supports\n")?;
    writeln!(
        page,
        "| arm | endpoint | split | L / G | difference, 90 % interval | G1 p | G2 p | G3 p, spread | G3 p, whole templates | not worse by {} or more |",
        read.margin
    )?;
    writeln!(page, "|---|---|---|--:|--:|--:|--:|--:|--:|---|")?;
    for table in &read.tables {
        for (at, reading) in table.readings.iter().enumerate() {
            let support = if at == 0 { table.support.words() } else { "″" };
            writeln!(
                page,
                "| {} | {} | {} | {} / {} | {} [{}, {}] | {} | {} | {} | {} | {support} |",
                table.arm,
                table.endpoint,
                reading.split,
                reading.loss,
                reading.gain,
                reading.difference,
                reading.interval[0],
                reading.interval[1],
                reading.p_g1,
                reading.p_g2,
                clustered(reading, "spread"),
                clustered(reading, "lumped")
            )?;
        }
    }
    writeln!(page, "\n## To be read with it\n")?;
    for remark in &counts.remarks {
        writeln!(page, "- {remark}")?;
    }
    Ok(())
}

fn marked(count: &Count) -> String {
    let mark = match count.mark {
        super::Mark::Published => "ᵖ",
        super::Mark::Computed => "ᶜ",
        super::Mark::Inferred => "ⁱ",
    };
    format!("{}{mark}", count.value)
}

fn clustered(reading: &Reading, arrangement: &str) -> String {
    reading
        .clustered
        .iter()
        .find(|one| one.arrangement == arrangement)
        .map_or_else(|| "templates unknown".to_owned(), |one| format!("{} (deff {})", one.p, one.deff))
}
