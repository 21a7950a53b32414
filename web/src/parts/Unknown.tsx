// The mark of an unknown value, which is never shown as empty or zero.

export function Unknown({ why }: { why?: string }) {
  return <span class="unknown" title={why ?? 'Not known here: it is not loaded, or no source has it'}>unknown</span>;
}
