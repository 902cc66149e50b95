//! `bench definitions`: what each arm's definitions cost, by server.

use bench_protocol::controls::NAMES_ONLY;
use serde::Serialize;

use super::{args::DefinitionsArgs, failure::Failure, output::Output};
use crate::{
    arms::registry::Registry,
    exit,
    inputs::Inputs,
    plan,
    sizes::{ArmSizes, Size, saving_ppm},
};

/// One cell of the table.
#[derive(Debug, Serialize)]
struct Row<'a> {
    arm: &'a str,
    /// Catalog name, `(shared)` for tools of no single server, `(all)` for the sum.
    server: &'a str,
    tools: usize,
    bytes: usize,
    tokens_o200k: usize,
    /// Parts per million of raw's tokens; negative where the arm is larger.
    saving_ppm: i64,
}

/// Runs the command.
pub(super) fn run(args: &DefinitionsArgs, inputs: &Inputs, output: &mut Output) -> Result<u8, Failure> {
    let seeds = plan::SuiteSeeds::derive(&inputs.protocol, &inputs.protocol.seeds.primary)?;
    let registry = Registry::new(&plan::arm_context(inputs, &seeds))?;
    let ids: Vec<&str> = if args.arms.is_empty() {
        let protocol = &inputs.protocol.arms;
        let shown = std::iter::once(&protocol.reference).chain(&protocol.levels);
        shown.map(String::as_str).chain([NAMES_ONLY]).collect()
    } else {
        args.arms.iter().map(String::as_str).collect()
    };
    let size = |id: &str| -> Result<ArmSizes, Failure> {
        Ok(ArmSizes::of(registry.build(id)?.as_ref(), registry.definitions())?)
    };
    let raw = size(&inputs.protocol.arms.reference)?;
    let all: Vec<ArmSizes> = ids.into_iter().map(size).collect::<Result<_, _>>()?;
    let rows: Vec<Row<'_>> = all.iter().flat_map(|sizes| rows(sizes, &raw)).collect();
    if output.json {
        output.document(&serde_json::json!({ "tokenizer": "o200k_base", "counted": "{name, description, input_schema} as shown", "rows": rows }))?;
    } else {
        print(&rows, output)?;
    }
    Ok(exit::OK)
}

fn rows<'a>(sizes: &'a ArmSizes, raw: &ArmSizes) -> Vec<Row<'a>> {
    let row = |server, size: &Size, reference: &Size| Row {
        arm: &sizes.arm,
        server,
        tools: size.tools,
        bytes: size.bytes,
        tokens_o200k: size.tokens,
        saving_ppm: saving_ppm(size.tokens, reference.tokens),
    };
    let mut rows: Vec<Row<'a>> = sizes
        .servers
        .iter()
        .zip(&raw.servers)
        .map(|((server, size), (_, reference))| row(server.as_str(), size, reference))
        .collect();
    if sizes.shared.tools > 0 {
        rows.push(row("(shared)", &sizes.shared, &Size::default()));
    }
    rows.push(row("(all)", &sizes.total, &raw.total));
    rows
}

fn print(rows: &[Row<'_>], output: &mut Output) -> Result<(), Failure> {
    let out = &mut output.product();
    writeln!(
        out,
        "{:<12} {:<22} {:>6} {:>9} {:>13} {:>9}",
        "arm", "server", "tools", "bytes", "o200k tokens", "saving"
    )?;
    for row in rows {
        let saving = format!("{:.1} %", row.saving_ppm as f64 / 10_000.0);
        writeln!(
            out,
            "{:<12} {:<22} {:>6} {:>9} {:>13} {:>9}",
            row.arm, row.server, row.tools, row.bytes, row.tokens_o200k, saving
        )?;
        if row.server == "(all)" {
            writeln!(out)?;
        }
    }
    writeln!(out, "Counted: {{name, description, input_schema}} as shown to the model, o200k_base.")?;
    Ok(())
}
