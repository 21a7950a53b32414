// The well-known tokens of the chain, requested when the first token is shown or the first word is searched for.
import { signal } from '@preact/signals';
import { getJson } from '../api/request.ts';
import { type KnownToken, KnownTokens } from '../format/suspect.ts';
import { chain } from './chain.ts';

const loaded = signal<KnownTokens>(new KnownTokens([]));
/** Whether an answer arrived, or none will. */
export const hasKnownTokens = signal(false);
let requested: number | null = null;

/** Those that have arrived; none until then, so that no token is marked before. */
export function knownTokens(): KnownTokens {
  const { id } = chain.value;
  if (id !== null && requested !== id) {
    requested = id;
    getJson<{ tokens: KnownToken[] }>(`/assets/tokens/eip155-${id}.json`).then(({ tokens }) => { loaded.value = new KnownTokens(tokens); }, () => {}).finally(() => { hasKnownTokens.value = true; });
  }
  return loaded.value;
}
