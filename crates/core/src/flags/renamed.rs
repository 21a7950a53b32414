//! Renamed environment variables: the old name is read if only the old name is set.

use clap::Arg;

/// Lets `argument` read the variable `old` where its own is not set; a warning on stderr names the new one.
#[must_use]
pub fn or_old_variable(argument: Arg, old: &'static str) -> Arg {
    let new = argument.get_env().map(ToOwned::to_owned);
    let is_new_set = new.as_ref().is_some_and(|new| std::env::var_os(new).is_some());
    if is_new_set || std::env::var_os(old).is_none() {
        return argument;
    }
    if let Some(new) = new {
        eprintln!("warning: the variable {old} is now called {}", new.display());
    }
    argument.env(old)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_old_variable_counts_where_the_new_one_is_absent() {
        let variable = |argument: &Arg| argument.get_env().map(|name| name.to_string_lossy().into_owned());
        let argument = || Arg::new("listen").long("listen").env("TRAWL_NO_SUCH_VARIABLE");
        // PATH is set wherever tests run.
        assert_eq!(variable(&or_old_variable(argument(), "PATH")).as_deref(), Some("PATH"));
        let absent = or_old_variable(argument(), "TRAWL_NEITHER");
        assert_eq!(variable(&absent).as_deref(), Some("TRAWL_NO_SUCH_VARIABLE"));
        let both = or_old_variable(Arg::new("listen").long("listen").env("PATH"), "HOME");
        assert_eq!(variable(&both).as_deref(), Some("PATH"));
    }
}
