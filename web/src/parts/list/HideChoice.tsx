// The checkbox that hides zero-value transfers and look-alike tokens.
import { hide, isHiding } from '../../state/hide_choice.ts';

export function HideChoice({ what }: { what: string }) {
  return <label class="check"><input type="checkbox" checked={isHiding.value} onChange={(event) => hide(event.currentTarget.checked)} /> Hide {what}</label>;
}
