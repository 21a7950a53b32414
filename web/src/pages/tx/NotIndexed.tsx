// What is known about a hash that no loaded block has as a transaction.
import type { Problem } from '../../api/request.ts';
import { isSettled, useApi } from '../../api/use_api.ts';
import type { Block, Page } from '../../api/types.ts';
import { Failure, Loading } from '../../parts/Answer.tsx';
import { Height } from '../../parts/Hash.tsx';
import { Time } from '../../parts/Time.tsx';
import { health } from '../../state/pulse.ts';

export function NotIndexed({ problem }: { problem: Problem }) {
  const answer = useApi<Page<Block>>('/api/v2/blocks?type=reorg&items_count=1');
  // All of it comes at once, so that the layout does not shift.
  if (!isSettled(answer) || health.value === null) return <Loading lines={30} />;
  return <><Failure problem={problem} /><Known replaced={answer.data?.items} /></>;
}

function Known({ replaced }: { replaced: Block[] | undefined }) {
  const block = replaced?.[0];
  const data = health.value?.report?.data;
  return (
    <section class="panel" aria-label="What is known">
      <p>{data?.latest_block_number != null && <>The newest loaded block is <Height of={data.latest_block_number} />{data.ranges !== null && data.ranges > 1 && <>, and blocks below it are missing</>}. </>}A transaction that is in no block yet, or that another one with its nonce replaced, is known to nodes alone.</p>
      {replaced && <p>{block ? <>A reorganisation may have dropped it: transactions of replaced blocks are not kept unless they were included again. The newest replaced block is <a class="height" href={`/block/${block.hash}`}>{block.height.toLocaleString('en')}</a> <span class="quiet"><Time at={block.timestamp} both /></span>. <a href="/blocks?type=reorg">All replaced blocks</a></> : 'No reorganisation was seen while this server followed the chain, so that none has dropped it.'}</p>}
    </section>
  );
}
