//! `bench key`: key pairs for signing.

use super::args::{KeyAction, KeyArgs};
use crate::{
    cli::{failure::Failure, output::Output},
    exit,
    sign::{KeyError, PublicKey, SecretKey},
};

impl From<KeyError> for Failure {
    fn from(error: KeyError) -> Self {
        let code = if matches!(error, KeyError::Format { .. }) { exit::INPUT } else { exit::USAGE };
        Self::new(code, error)
    }
}

/// Runs the command.
pub(in crate::cli) fn run(args: &KeyArgs, output: &mut Output) -> Result<u8, Failure> {
    let (id, public) = match &args.action {
        KeyAction::New(file) => {
            let key = SecretKey::random()?;
            let public = key.write(&file.output)?;
            output.talk(&format!("{}: your secret key, readable by you alone", file.output.display()));
            output
                .talk(&format!("{}: your public key; publish it where people know that it is yours", public.display()));
            (key.public().id(), public)
        }
        KeyAction::Id(file) => (PublicKey::read(&file.file)?.id(), file.file.clone()),
    };
    if output.json {
        output.document(&serde_json::json!({ "keyid": id, "public": public }))?;
    } else {
        writeln!(output.product(), "{id}")?;
    }
    Ok(exit::OK)
}
