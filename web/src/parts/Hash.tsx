// Hashes of blocks and transactions, heights, and bytes.
import { useState } from 'preact/hooks';
import { group } from '../format/amount.ts';
import { shortHash } from '../format/hash.ts';
import { Copy } from './Copy.tsx';
import { Unknown } from './Unknown.tsx';

export function TxHash({ hash, whole }: { hash: string; whole?: boolean }) {
  return <a class={whole ? 'hash whole' : 'hash'} href={`/tx/${hash}`} title={hash}>{whole ? hash : shortHash(hash)}</a>;
}

export function Height({ of }: { of: number | null | undefined }) {
  if (of === null || of === undefined) return <Unknown />;
  return <a class="height" href={`/block/${of}`}>{group(String(of))}</a>;
}

export function Plain({ hash, what }: { hash: string | null | undefined; what: string }) {
  if (!hash) return <Unknown />;
  return <span class="hash whole">{hash} <Copy text={hash} what={what} /></span>;
}

/** The most characters that are shown before the text is opened. */
const MAX_LENGTH = 1000;

/** The most digits that never scroll, on the narrowest screen either. */
const MAX_UNSCROLLED = 500;

/** Bytes as hexadecimal digits; long ones are folded. */
export function Bytes({ data, what }: { data: string | null | undefined; what: string }) {
  const [open, setOpen] = useState(false);
  if (data === null || data === undefined) return <Unknown />;
  if (data === '0x') return <span class="quiet">none</span>;
  const isLong = data.length > MAX_LENGTH;
  return (
    <div class="bytes">
      <code tabIndex={data.length > MAX_UNSCROLLED ? 0 : undefined}>{open || !isLong ? data : `${data.slice(0, MAX_LENGTH)}…`}</code>
      <div class="row">
        <span class="quiet">{group(String((data.length - 2) / 2))} bytes</span>
        {isLong && <button type="button" class="button small" onClick={() => setOpen(!open)}>{open ? 'Show less' : 'Show all'}</button>}
        <Copy text={data} what={what} label="Copy" />
      </div>
    </div>
  );
}

/** A word of 32 bytes in short form; the whole word on hover, and by the copy button. */
export function Word({ of, what }: { of: string; what: string }) {
  const digits = of.replace(/^0x0*/, '');
  return <span class="hash" title={of}>{digits.length > 12 ? shortHash(of) : `0x${digits || '0'}`} <Copy text={of} what={what} /></span>;
}
