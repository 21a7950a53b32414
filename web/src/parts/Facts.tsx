// A list of names and values.
import type { ComponentChildren } from 'preact';

export function Facts({ children }: { children: ComponentChildren }) {
  return <dl class="facts">{children}</dl>;
}

export function Fact({ name, hint, children }: { name: string; hint?: string | undefined; children: ComponentChildren }) {
  return (
    <div>
      <dt title={hint}>{name}</dt>
      <dd>{children}</dd>
    </div>
  );
}
