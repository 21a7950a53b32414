// What is known about the sources of a contract, in a list of names and values.
import { visible } from '../format/hash.ts';
import { Address } from '../parts/Address.tsx';
import { Argument } from '../parts/Argument.tsx';
import { Fact, Facts } from '../parts/Facts.tsx';
import { Bytes } from '../parts/Hash.tsx';
import { Time } from '../parts/Time.tsx';
import { Unknown } from '../parts/Unknown.tsx';
import { type ContractSource, languageName } from './bundle.ts';
import { licenseName, match, optimization, otherCompiler } from './words.ts';

const NOT_STATED = 'The loaded file does not state it';
const stated = (value: string | null | undefined) => (value ? <bdi>{visible(value)}</bdi> : <Unknown why={NOT_STATED} />);

export function SourceFacts({ of, ofCode }: { of: ContractSource; ofCode: string | null }) {
  const other = otherCompiler(of.compiler_version, ofCode);
  const libraries = of.external_libraries ?? [];
  return (
    <>
      <Facts>
        <Fact name="Contract name">{stated(of.name)}</Fact>
        <Fact name="Language">{stated(languageName(of.language))}</Fact>
        <Fact name="Compiler">{stated(of.compiler_version)}{other && <span class="suspect">, but the metadata in the code says {other}</span>}</Fact>
        <Fact name="Optimization enabled">{stated(optimization(of))}</Fact>
        <Fact name="EVM version">{stated(of.evm_version)}</Fact>
        <Fact name="License">{stated(of.license_type && licenseName(of.license_type))}</Fact>
        <Fact name="Match">{match(of) ? <>{match(of)}{of.is_verified_via_sourcify && ', by Sourcify'}</> : <span class="quiet">not stated</span>}</Fact>
        <Fact name="Verified">{of.verified_at ? <Time at={of.verified_at} both /> : <Unknown why={NOT_STATED} />}</Fact>
        {libraries.length > 0 && <Fact name="Libraries"><span class="stack">{libraries.map((item) => <span key={item.address_hash} class="row">{item.name && <bdi>{visible(item.name)}</bdi>}<Address of={{ hash: item.address_hash }} copy /></span>)}</span></Fact>}
        {of.constructor_args && <Fact name="Constructor arguments"><Constructor of={of} args={of.constructor_args} /></Fact>}
      </Facts>
      <p class="quiet">The operator loaded these sources. Trawl did not compile them: the match is what the file says.</p>
    </>
  );
}

/** The arguments by name, if they are decoded, and their bytes. */
function Constructor({ of, args }: { of: ContractSource; args: string }) {
  const decoded = (of.decoded_constructor_args ?? []).flatMap(argumentOf);
  return (
    <>
      {decoded.length > 0 && <dl class="values">{decoded.map(({ name, type, value }, index) => <div key={index}><dt title={visible(type)}>{visible(name || type)}</dt><dd><Argument type={type} value={value} /></dd></div>)}</dl>}
      <Bytes data={args.startsWith('0x') ? args : `0x${args}`} what="constructor arguments" />
    </>
  );
}

interface ConstructorArgument { name: string; type: string; value: unknown }

/** Blockscout's pair: the value, and its entry of the ABI. */
function argumentOf(pair: unknown): ConstructorArgument[] {
  if (!Array.isArray(pair)) return [];
  const [value, entry] = pair as [unknown, { name?: unknown; type?: unknown } | null | undefined];
  return [{ name: typeof entry?.name === 'string' ? entry.name : '', type: typeof entry?.type === 'string' ? entry.type : 'unknown', value }];
}
