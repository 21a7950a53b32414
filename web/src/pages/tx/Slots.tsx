// The storage slots that a transaction changed, by re-executing it if the state before it is loaded.
import { useEffect, useState } from 'preact/hooks';
import { call, type Problem } from '../../api/request.ts';
import { type Difference, type SlotChange, slotsOf } from '../../format/trace/changes.ts';
import { withGroups } from '../../format/amount.ts';
import { checksum } from '../../format/keccak.ts';
import { Address } from '../../parts/Address.tsx';
import { Word } from '../../parts/Hash.tsx';
import { Loading } from '../../parts/Answer.tsx';
import { type Column, Table } from '../../parts/list/Table.tsx';

const columns: Column<SlotChange>[] = [
  { name: 'Contract', cell: (item) => <Address of={{ hash: checksum(item.address) }} /> },
  { name: 'Slot', cell: (item) => <Word of={item.slot} what="slot" /> },
  { name: 'Before', cell: (item) => <Word of={item.before} what="value" /> },
  { name: 'After', cell: (item) => <Word of={item.after} what="value" /> },
];

const TRACER = { tracer: 'prestateTracer', tracerConfig: { diffMode: true } };

export function Slots({ hash }: { hash: string }) {
  const [answer, setAnswer] = useState<{ slots?: SlotChange[]; problem?: Problem }>({});
  useEffect(() => {
    let isCancelled = false;
    call<Difference>('debug_traceTransaction', [hash, TRACER]).then(
      (difference) => { if (!isCancelled) setAnswer({ slots: slotsOf(difference) }); },
      (problem: Problem) => { if (!isCancelled) setAnswer({ problem }); },
    );
    return () => { isCancelled = true; };
  }, [hash]);
  const { slots, problem } = answer;
  return (
    <section class="panel">
      <header><h2>Storage</h2>{slots && slots.length > 0 && <span class="count">{slots.length}</span>}</header>
      {problem ? <p class="quiet">Not known here: {withGroups(problem.message)}.</p> : slots ? <Table items={slots} columns={columns} id={(item) => item.address + item.slot} label="Slots of storage before and after" empty="No slot of storage changed." /> : <Loading lines={4} />}
    </section>
  );
}
