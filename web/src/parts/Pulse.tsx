// The state of the chain on every page: a dot beside its name, and a line at the bottom if something is wrong.
import { pulse } from '../state/pulse.ts';

export function PulseDot() {
  const { tone = 'still', word = 'unknown', detail = 'Checking the state of the chain' } = pulse.value ?? {};
  return <a class={`pulse ${tone}`} href="/status" title={`${word}: ${detail}`} aria-label={`State of the chain: ${word}`} />;
}

export function PulseLine() {
  const state = pulse.value;
  return (
    <div role="status">
      {state && (state.tone === 'bad' || state.tone === 'late') && <p class={`alarm ${state.tone}`}><strong>{state.word.charAt(0).toUpperCase() + state.word.slice(1)}:</strong> {state.detail.slice(0, 300)}. <a href="/status">Status</a></p>}
    </div>
  );
}
