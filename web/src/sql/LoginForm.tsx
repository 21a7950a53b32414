// The form for the account that statements run as.
import { useState } from 'preact/hooks';
import { Problem } from '../api/request.ts';
import { Failure } from '../parts/Answer.tsx';
import { fetchRows } from './client.ts';
import { basic, logIn } from './login.ts';

export function LoginForm() {
  const [problem, setProblem] = useState<Problem | null>(null);
  const [isBusy, setBusy] = useState(false);
  const submit = async (event: SubmitEvent) => {
    event.preventDefault();
    const fields = new FormData(event.currentTarget as HTMLFormElement);
    const user = String(fields.get('user') ?? '');
    const authorization = basic(user, String(fields.get('password') ?? ''));
    setBusy(true);
    setProblem(null);
    try {
      await fetchRows('SELECT 1', authorization);
      logIn({ user, authorization });
    } catch (failure) {
      setProblem(failure instanceof Problem ? failure : new Problem(0, String(failure)));
    }
    setBusy(false);
  };
  return (
    <section class="panel">
      <header><h2>Log in to the database</h2></header>
      <form class="tool" onSubmit={submit}>
        <label><span>User</span><input name="user" autocomplete="username" required maxLength={200} /></label>
        <label><span>Password</span><input name="password" type="password" autocomplete="current-password" /></label>
        <p class="row"><button type="submit" class="button main" disabled={isBusy}>Log in</button></p>
      </form>
      {problem && <Failure problem={problem} compact />}
      {!isSecureContext && <p class="failure compact" role="note"><strong>This connection is not encrypted.</strong> <span>The password can be read in transit.</span></p>}
      <p class="quiet">The account is a read-only ClickHouse account from the operator of this server. It is forgotten when this tab is closed.</p>
    </section>
  );
}
