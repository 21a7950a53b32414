// A sentence that summarises a transaction, with links.
import type { ComponentChildren } from 'preact';
import type { AddressRef, Token } from '../../api/types.ts';
import { useApi } from '../../api/use_api.ts';
import { short, sizeOf } from '../../format/amount.ts';
import { shortName } from '../../format/hash.ts';
import { Address } from '../../parts/Address.tsx';
import { TokenName } from '../../parts/Amount.tsx';
import { Loading } from '../../parts/Answer.tsx';
import { chain } from '../../state/chain.ts';

interface Variable { type: string; value: unknown }
interface Sentence { summary_template: string; summary_template_variables: Record<string, Variable> }
interface Summaries { data: { summaries: Sentence[] } }

/** A template, split into text and names of variables. */
function templateParts(template: string): { text?: string; name?: string }[] {
  return template.split(/(\{[a-z0-9_]+\})/i).filter(Boolean)
    .map((part) => (part.startsWith('{') && part.endsWith('}') ? { name: part.slice(1, -1) } : { text: part }));
}

function Value({ name, variable }: { name: string; variable: Variable | undefined }) {
  if (name === 'native') return <strong>{chain.value.symbol}</strong>;
  if (!variable) return <span>{name}</span>;
  const { type, value } = variable;
  if (type === 'address') return <Address of={value as AddressRef} />;
  if (type === 'token') return <TokenName token={value as Token} />;
  const text = String(value);
  if (type === 'currency') return <strong title={text}>{rounded(text)}</strong>;
  if (type === 'method') return <span class="method" title={text}>{shortName(text, 30)}</span>;
  return <strong title={text}>{shortName(text, 60)}</strong>;
}

/** The least number of digits of an amount, after leading zeros. */
const DIGITS = 5;

/** A decimal number, rounded as in the lists. */
function rounded(text: string): string {
  const [whole = '0', fraction = ''] = text.split('.');
  const digits = whole + fraction;
  return /^-?\d+$/.test(digits) ? sizeOf(digits, fraction.length) ?? short(digits, fraction.length, DIGITS) : shortName(text, 60);
}

/** The sentence above its children, which wait for it, so that the layout does not shift. */
export function Summary({ hash, children }: { hash: string; children: ComponentChildren }) {
  const { data, problem } = useApi<Summaries>(`/api/v2/transactions/${hash}/summary`);
  const sentence = data?.data.summaries[0];
  if (!data && !problem) return <Loading lines={30} />;
  if (!sentence) return <>{children}</>;
  return (
    <><p class="sentence">
      {templateParts(sentence.summary_template).map((part, index) => (
        <span key={index}>{part.name === undefined ? part.text : <Value name={part.name} variable={sentence.summary_template_variables[part.name]} />}</span>
      ))}
    </p>{children}</>
  );
}
