// What is known about the sources of a contract, in words.
import { count } from '../format/amount.ts';
import type { ContractSource } from './bundle.ts';

/** Blockscout's words for licences. */
const LICENSES: Record<string, string> = {
  none: 'None', unlicense: 'The Unlicense', mit: 'MIT', gnu_gpl_v2: 'GNU GPL v2', gnu_gpl_v3: 'GNU GPL v3', gnu_lgpl_v2_1: 'GNU LGPL v2.1', gnu_lgpl_v3: 'GNU LGPL v3', bsd_2_clause: 'BSD 2-Clause', bsd_3_clause: 'BSD 3-Clause',
  mpl_2_0: 'MPL 2.0', osl_3_0: 'OSL 3.0', apache_2_0: 'Apache 2.0', gnu_agpl_v3: 'GNU AGPL v3', bsl_1_1: 'Business Source License 1.1',
};
export const licenseName = (type: string): string => (Object.hasOwn(LICENSES, type) ? LICENSES[type] : null) ?? type;

type Optimization = Pick<ContractSource, 'optimization_enabled' | 'optimization_runs'>;
/** `Yes, 200 runs`; null if it is not known. */
export function optimization({ optimization_enabled: enabled, optimization_runs: runs }: Optimization): string | null {
  if (enabled === null || enabled === undefined) return null;
  return enabled ? `Yes${runs === null || runs === undefined ? '' : `, ${count(runs)} ${runs === 1 ? 'run' : 'runs'}`}` : 'No';
}

/** How the sources match the code; null if that is not stated. */
export function match({ is_fully_verified: full, is_partially_verified: part }: Pick<ContractSource, 'is_fully_verified' | 'is_partially_verified'>): string | null {
  if (full === true) return 'Exact match';
  return full === false || part === true ? 'Partial match: the metadata differs' : null;
}

/** What the code says about its compiler, if that contradicts the stated version. */
export function otherCompiler(stated: string | null, ofCode: string | null): string | null {
  const version = /\d+\.\d+\.\d+/.exec(ofCode ?? '')?.[0];
  return version && stated && /\d+\.\d+\.\d+/.exec(stated)?.[0] !== version ? ofCode : null;
}
