// The sources of a contract: what is known about them, their files, and what the compiler was given.
import type { ComponentChildren } from 'preact';
import { useMemo } from 'preact/hooks';
import { useLocation } from 'preact-iso';
import { saveText } from '../charts/file.ts';
import { withQuery } from '../parts/list/query.ts';
import { type ContractSource, fileName, filesOf, standardInput } from './bundle.ts';
import { changesDirection, withCodes } from './code_text.ts';
import { FileTree } from './FileTree.tsx';
import { FileView } from './FileView.tsx';
import { selectionOf, selectionQuery, type SourceSelection } from './selection.ts';
import { SourceFacts } from './SourceFacts.tsx';
import './source.css';

interface Props {
  of: ContractSource;
  /** The compiler that the code itself names. */
  ofCode: string | null;
  /** What is below. */
  children: ComponentChildren;
}

export function Source({ of, ofCode, children }: Props) {
  return <><Files of={of} ofCode={ofCode} />{children}</>;
}

function Files({ of, ofCode }: Pick<Props, 'of' | 'ofCode'>) {
  const { path, query, route } = useLocation();
  const files = useMemo(() => filesOf(of), [of]);
  const paths = useMemo(() => files.map((one) => one.path), [files]);
  const deceptive = useMemo(() => new Set(files.filter(({ text }) => changesDirection(text)).map((one) => one.path)), [files]);
  const selection = selectionOf(query);
  const file = files.find((one) => one.path === selection.path) ?? files[0];
  if (!file) return null;
  const urlOf = (to: SourceSelection) => withQuery(path, query, selectionQuery(to));
  const isUnknown = selection.path !== null && file.path !== selection.path;
  return (
    <section class="panel source">
      <header><h2>Contract source code</h2>
        <button type="button" class="button small" onClick={() => saveText(`${fileName(of.name ?? 'contract')}.json`, standardInput(of), 'application/json')} title="All files and settings in one file, which compilers take as standard JSON input">Download all as standard JSON</button>
      </header>
      <SourceFacts of={of} ofCode={ofCode} />
      {isUnknown && <p class="failure compact" role="note">There is no file {withCodes(JSON.stringify(selection.path?.slice(0, 200)))} here. This is the main file.</p>}
      <div class={files.length > 1 ? 'files several' : 'files'}>
        {files.length > 1 && <FileTree paths={paths} marked={deceptive} chosen={file.path} choose={(chosen) => route(urlOf({ path: chosen, lines: null }), true)} />}
        <FileView key={file.path} file={file} language={of.language} lines={isUnknown ? null : selection.lines} urlOf={(lines) => urlOf({ path: file.path, lines })} open={(lines) => route(urlOf({ path: file.path, lines }), true)} />
      </div>
      {of.compiler_settings && <details class="paste"><summary>Compiler settings</summary><pre class="json" tabIndex={0}>{withCodes(JSON.stringify(of.compiler_settings, null, 2))}</pre></details>}
    </section>
  );
}
