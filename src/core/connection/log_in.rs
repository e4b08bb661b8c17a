//! How a connection begins: who we are, which database, and whether this Redis is new enough.

use super::{Fault, Wire};
use crate::core::dsn::Dsn;
use crate::core::resp;
use redis::Value;
use std::time::Instant;

impl Wire {
    pub(super) fn log_in(&mut self, dsn: &Dsn, until: Instant) -> Result<(), Fault> {
        let name = format!("delayqueue:{}", std::process::id());
        let database = dsn.database.to_string();
        let mut hello: Vec<&[u8]> = vec![b"HELLO", b"3"];
        if let Some(password) = &dsn.password {
            hello.extend([
                b"AUTH".as_slice(),
                dsn.user.as_deref().unwrap_or("default").as_bytes(),
                password.as_bytes(),
            ]);
        }
        hello.extend([b"SETNAME".as_slice(), name.as_bytes()]);
        let mut request = Vec::new();
        resp::write_command(&mut request, hello.into_iter());
        let mut expected = 1;
        if dsn.database != 0 {
            resp::write_command(&mut request, [b"SELECT".as_slice(), database.as_bytes()].into_iter());
            expected = 2;
        }
        let replies = self.exchange(&request, expected, until).map_err(|fault| match fault {
            Fault::Sent(why) | Fault::Unsent(why) => {
                Fault::Unsent(format!("cannot log in to {}: {why}", dsn.redacted()))
            }
            refused @ Fault::Refused(..) => refused,
        })?;
        for reply in replies {
            if let Value::Map(fields) = &reply {
                check_version(fields)?;
            }
            if let Value::ServerError(error) = reply {
                let detail = dsn.redact(error.details().unwrap_or_default());
                return Err(match error.code() {
                    "NOPROTO" | "ERR" if detail.contains("unknown command") || detail.contains("HELLO") => {
                        Fault::Refused(
                            "ERR".into(),
                            format!("this server is too old, Redis 6.2 or newer is needed ({detail})"),
                        )
                    }
                    code => Fault::Refused(code.to_owned(), detail),
                });
            }
        }
        Ok(())
    }
}

/// HELLO tells the version; scripts need commands of 6.2.
fn check_version(fields: &[(Value, Value)]) -> Result<(), Fault> {
    let text = |value: &Value| match value {
        Value::BulkString(bytes) => String::from_utf8_lossy(bytes).into_owned(),
        Value::SimpleString(text) => text.clone(),
        _ => String::new(),
    };
    let version = fields.iter().find(|(name, _)| text(name) == "version").map(|(_, value)| text(value));
    let mut parts = version.as_deref().unwrap_or_default().split('.').map(|part| part.parse::<u32>().unwrap_or(0));
    if version.is_some() && (parts.next(), parts.next()) < (Some(6), Some(2)) {
        let found = version.unwrap_or_default();
        return Err(Fault::Refused("ERR".into(), format!("Redis {found} is too old, 6.2 or newer is needed")));
    }
    Ok(())
}
