// The sources of a contract as files, and as the input of its compiler.

export interface SourceFile { path: string; text: string }

/** What the API knows of the sources of a contract; `null` is unknown. */
export interface ContractSource {
  name: string | null; language: string | null; file_path: string | null; source_code: string | null;
  additional_sources: { file_path: string; source_code: string }[] | null;
  compiler_version: string | null; compiler_settings: Record<string, unknown> | null; evm_version: string | null;
  optimization_enabled: boolean | null; optimization_runs: number | null; license_type: string | null;
  constructor_args: string | null; decoded_constructor_args: unknown[] | null;
  external_libraries: { name: string | null; address_hash: string }[] | null;
  verified_at: string | null; is_fully_verified: boolean | null; is_partially_verified: boolean | null; is_verified_via_sourcify: boolean | null;
}

const EXTENSIONS: Record<string, string> = { solidity: 'sol', vyper: 'vy', yul: 'yul' };

/** Whether there is anything to show. */
export const hasSource = ({ source_code: code, additional_sources: others }: ContractSource): boolean => Boolean(code || others?.length);

/** The files, the main one first; each path is there once. */
export function filesOf({ name, language, file_path: path, source_code: code, additional_sources: others }: ContractSource): SourceFile[] {
  const main = path || `${name ?? 'contract'}.${EXTENSIONS[language ?? ''] ?? 'txt'}`;
  const files = new Map(typeof code !== 'string' ? [] : [[main, { path: main, text: code }]]);
  for (const { file_path: other, source_code: text } of others ?? []) if (!files.has(other)) files.set(other, { path: other, text });
  return [...files.values()];
}

/** The last part of a path, as the name of a file on any system. */
export function fileName(path: string): string {
  const last = path.split(/[/\\]/).filter(Boolean).at(-1) ?? '';
  return last.replace(/[^\w.@-]+/g, '_').replace(/^\.+/, '').slice(-100) || 'source';
}

const LANGUAGES: Record<string, string> = { solidity: 'Solidity', vyper: 'Vyper', yul: 'Yul' };
/** The language as its compilers write it. */
export const languageName = (language: string | null): string | null => (language === null ? null : LANGUAGES[language] ?? language);

/** solc gives nothing that is not asked for. */
const ASKED_FOR = { '*': { '*': ['abi', 'metadata', 'evm.bytecode', 'evm.deployedBytecode'] } };

/** The standard JSON input that a compiler takes. */
export function standardInput(of: ContractSource): string {
  const sources = Object.fromEntries(filesOf(of).map(({ path, text }) => [path, { content: text }]));
  return JSON.stringify({ language: languageName(of.language) ?? undefined, sources, settings: settingsOf(of) }, null, 2);
}

/** The loaded settings as the compiler takes them; without them those that the facts state. */
function settingsOf(of: ContractSource): Record<string, unknown> {
  // Metadata has a member that compilers refuse: the contract it is about.
  const { compilationTarget: _, libraries, ...settings } = of.compiler_settings ?? {};
  const linked = librariesByFile(libraries ?? {});
  return { ...(of.compiler_settings ? settings : statedSettings(of)), ...(linked && { libraries: linked }), outputSelection: settings['outputSelection'] ?? ASKED_FOR };
}

function statedSettings({ optimization_enabled: enabled, optimization_runs: runs, evm_version: evmVersion }: ContractSource): Record<string, unknown> {
  return {
    ...(typeof enabled === 'boolean' && { optimizer: { enabled, ...(typeof runs === 'number' && { runs }) } }),
    ...(evmVersion && !/^default$/i.test(evmVersion) && { evmVersion }),
  };
}

/** Metadata has `file:Library`, and the input a member for each file. */
function librariesByFile(libraries: unknown): Record<string, unknown> | null {
  const files = new Map<string, Record<string, unknown>>();
  for (const [key, value] of Object.entries(libraries as Record<string, unknown>)) {
    const at = key.lastIndexOf(':');
    if (typeof value === 'string') files.set(key.slice(0, Math.max(at, 0)), { ...files.get(key.slice(0, Math.max(at, 0))), [key.slice(at + 1)]: value });
    else files.set(key, value as Record<string, unknown>);
  }
  return files.size > 0 ? Object.fromEntries(files) : null;
}
