// A contract: its sources, its read functions, its ABI, its storage and its code.
import type { ComponentChildren } from 'preact';
import { useEffect, useState } from 'preact/hooks';
import { withRetry } from '../../api/retry.ts';
import { useApi } from '../../api/use_api.ts';
import { count } from '../../format/amount.ts';
import { visible } from '../../format/hash.ts';
import { Address } from '../../parts/Address.tsx';
import { Copy } from '../../parts/Copy.tsx';
import { Fact, Facts } from '../../parts/Facts.tsx';
import { Bytes } from '../../parts/Hash.tsx';
import { AnswerView, Loading } from '../../parts/Answer.tsx';
import { Unknown } from '../../parts/Unknown.tsx';
import { type ContractSource, hasSource } from '../../source/bundle.ts';
import { pastedAbi, AbiForm } from './PastedAbi.tsx';
import { ReadCalls } from './ReadCalls.tsx';
import type { AbiEntry } from '../../format/abi.ts';
import { SameCode } from './SameCode.tsx';
import { compilerOf, standardFunctions } from './standard.ts';
import { StorageAt } from './StorageAt.tsx';

const loadSource = withRetry(() => import('../../source/Source.tsx').then((part) => part.Source));

interface ContractPage extends ContractSource {
  is_verified: boolean | null; abi: AbiEntry[] | null; deployed_bytecode: string | null; creation_bytecode: string | null;
  verified_twin_address_hash: string | null; creation_status: string | null;
}

/** `implementation` is that of a proxy. */
export function Contract({ hash, implementation }: { hash: string; implementation: string | null }) {
  const answer = useApi<ContractPage>(`/api/v2/smart-contracts/${hash}`);
  return (
    <AnswerView answer={answer}>
      {(data) => (
        <>
          <section class="panel">
            <Facts>
              <Fact name="Name">{data.name ? <bdi>{visible(data.name)}</bdi> : <Unknown />}</Fact>
              <Fact name="ABI">{data.abi ? `${count(data.abi.length)} entries, loaded by the operator` : 'not loaded'}</Fact>
              {!hasSource(data) && <Fact name="Source code">not loaded; <code>trawl-ingest labels</code> loads it</Fact>}
              {data.deployed_bytecode && compilerOf(data.deployed_bytecode) && <Fact name="Compiler" hint="From the metadata at the end of the code">{compilerOf(data.deployed_bytecode)}</Fact>}
              {data.verified_twin_address_hash && <Fact name="Minimal proxy of"><Address of={{ hash: data.verified_twin_address_hash }} /></Fact>}
              {data.creation_status && data.creation_status !== 'success' && <Fact name="Creation">{data.creation_status}</Fact>}
            </Facts>
          </section>
          <WithSource hash={hash} data={data}><CallsAndCode hash={hash} data={data} implementation={implementation} /></WithSource>
        </>
      )}
    </AnswerView>
  );
}

/** The sources above `children`, which wait for the script of the sources, so that they do not move. */
function WithSource({ hash, data, children }: { hash: string; data: ContractPage; children: ComponentChildren }) {
  const isNeeded = hasSource(data);
  const [Source, setSource] = useState<Awaited<ReturnType<typeof loadSource>> | null>(null);
  useEffect(() => { if (isNeeded) void loadSource().then((part) => setSource(() => part)); }, [isNeeded]);
  if (!isNeeded) return <>{children}</>;
  return Source ? <Source key={hash} of={data} ofCode={data.deployed_bytecode && compilerOf(data.deployed_bytecode)}>{children}</Source> : <Loading lines={30} />;
}

function CallsAndCode({ hash, data, implementation }: { hash: string; data: ContractPage; implementation: string | null }) {
  return (
    <>
      {data.abi && <ReadCalls address={hash} abi={data.abi} />}
      {implementation && <ReadAsProxy hash={hash} implementation={implementation} />}
      {!data.abi && !implementation && <StandardFunctions hash={hash} code={data.deployed_bytecode} />}
      <PastedAbi hash={hash} />
      <StorageAt address={hash} />
      <section class="panel"><header><h2>Code</h2></header><Bytes data={data.deployed_bytecode} what="code" /></section>
      <section class="panel"><header><h2>Creation bytecode</h2></header><Bytes data={data.creation_bytecode} what="code" /></section>
      {data.abi && <section class="panel"><header><h2>ABI</h2><Copy text={JSON.stringify(data.abi, null, 2)} what="ABI" label="Copy" /></header><pre class="json" tabIndex={0}>{JSON.stringify(data.abi, null, 1)}</pre></section>}
      <SameCode hash={hash} />
    </>
  );
}

/** The read functions of the implementation, called on the proxy. */
function ReadAsProxy({ hash, implementation }: { hash: string; implementation: string }) {
  const answer = useApi<ContractPage>(`/api/v2/smart-contracts/${implementation}`);
  const { data } = answer;
  if (!data) return null;
  return (
    <>
      {hasSource(data) && <section class="panel">The source code of the implementation is <a href={`/address/${implementation}?tab=contract`}>on its own page</a>.</section>}
      {data.abi
        ? <ReadCalls address={hash} abi={data.abi} title="Read as proxy" about={`By the ABI of ${data.name ? `${visible(data.name)}, ` : ''}${implementation}, whose code it runs.`} />
        : <StandardFunctions hash={hash} code={data.deployed_bytecode} title="Read as proxy" />}
    </>
  );
}

function StandardFunctions({ hash, code, title }: { hash: string; code: string | null; title?: string }) {
  const abi = standardFunctions(code ?? '');
  return abi.length === 0 ? null : <ReadCalls address={hash} abi={abi} title={title} about="No ABI is loaded. These functions of well-known standards were found in the code by their selectors." />;
}

function PastedAbi({ hash }: { hash: string }) {
  const abi = pastedAbi(hash);
  return <>{abi && <ReadCalls address={hash} abi={abi} title="Read with your ABI" />}<section class="panel"><AbiForm address={hash} /></section></>;
}
