// Whether a block can still be replaced, by the newest safe and finalized blocks.
import { signal } from '@preact/signals';
import { useEffect } from 'preact/hooks';
import { call } from '../api/request.ts';
import { finalityOf, type Marks } from '../format/finality.ts';
import { now } from '../state/view.ts';
import { Unknown } from './Unknown.tsx';

/** What was said last, and when; `null` where nothing said it. */
const said = signal<{ marks: Marks | null; at: number } | undefined>(undefined);
/** Blocks are final by the epoch: nothing changes sooner, in milliseconds. */
const KEPT = 60_000;
let isAsking = false;

const height = (tag: string) => call<{ number: string } | null>('eth_getBlockByNumber', [tag, false]).then((block) => (block ? Number(block.number) : null));

async function ask(): Promise<void> {
  if (isAsking || (said.peek() && Date.now() - (said.peek()?.at ?? 0) < KEPT)) return;
  isAsking = true;
  const marks = await Promise.all([height('safe'), height('finalized')]).then(([safe, finalized]) => ({ safe, finalized }), () => null);
  said.value = { marks, at: Date.now() };
  isAsking = false;
}

export function Finality({ block }: { block: number }) {
  const isOld = said.value !== undefined && now.value - said.value.at > KEPT;
  useEffect(() => void ask(), [block, isOld]);
  if (said.value === undefined) return <>…</>;
  const word = finalityOf(block, said.value.marks);
  return word ? <span class={word === 'finalized' ? 'badge good' : 'badge'}>{word}</span> : <Unknown why="No node said which blocks are final" />;
}
