// Whether a block can still be replaced, by the newest safe and finalized blocks.
import { signal } from '@preact/signals';
import { useEffect } from 'preact/hooks';
import { call } from '../api/request.ts';
import { finalityOf, type Marks } from '../format/finality.ts';
import { now } from '../state/view.ts';
import { Unknown } from './Unknown.tsx';

/** The marks that were fetched last, and when; `marks` is `null` if no node reports them. */
const lastMarks = signal<{ marks: Marks | null; at: number } | undefined>(undefined);
/** How long the marks are used, in milliseconds: blocks become final by the epoch. */
const MAX_AGE = 60_000;
let isFetching = false;

const height = (tag: string) => call<{ number: string } | null>('eth_getBlockByNumber', [tag, false]).then((block) => (block ? Number(block.number) : null));

async function fetchMarks(): Promise<void> {
  if (isFetching || (lastMarks.peek() && Date.now() - (lastMarks.peek()?.at ?? 0) < MAX_AGE)) return;
  isFetching = true;
  const marks = await Promise.all([height('safe'), height('finalized')]).then(([safe, finalized]) => ({ safe, finalized }), () => null);
  lastMarks.value = { marks, at: Date.now() };
  isFetching = false;
}

export function Finality({ block }: { block: number }) {
  const isOld = lastMarks.value !== undefined && now.value - lastMarks.value.at > MAX_AGE;
  useEffect(() => void fetchMarks(), [block, isOld]);
  if (lastMarks.value === undefined) return <>…</>;
  const word = finalityOf(block, lastMarks.value.marks);
  return word ? <span class={word === 'finalized' ? 'badge good' : 'badge'}>{word}</span> : <Unknown why="No node reported which blocks are final" />;
}
