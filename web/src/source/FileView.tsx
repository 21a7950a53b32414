// A file of a contract: what it is, what can be done with it, and its text.
import { useMemo } from 'preact/hooks';
import { saveText } from '../charts/file.ts';
import { count } from '../format/amount.ts';
import { Copy } from '../parts/Copy.tsx';
import { fileName, type SourceFile } from './bundle.ts';
import { Code } from './Code.tsx';
import { changesDirection, codeText, withCodes } from './code_text.ts';
import { grammarOf } from './grammar.ts';
import { type LineRange, linesOf, selectionQuery } from './selection.ts';

interface Props {
  file: SourceFile;
  /** The language of the contract. */
  language: string | null;
  /** The lines that the URL of the page names. */
  lines: LineRange | null;
  urlOf: (lines: LineRange) => string;
  open: (lines: LineRange | null) => void;
}

export function FileView({ file: { path, text }, language, lines, urlOf, open }: Props) {
  const code = useMemo(() => codeText(text, grammarOf(path, language)), [path, text, language]);
  const isDeceptive = useMemo(() => changesDirection(text), [text]);
  const { line } = selectionQuery({ path, lines });
  const submit = (event: SubmitEvent) => {
    event.preventDefault();
    open(linesOf(String(new FormData(event.currentTarget as HTMLFormElement).get('line') ?? '')));
  };
  return (
    <div class="fileview">
      <div class="filehead">
        <h3><bdi class="hash whole">{withCodes(path)}</bdi></h3>
        <span class="quiet">{count(code.lineCount)} {code.lineCount === 1 ? 'line' : 'lines'}</span>
        <form class="row" onSubmit={submit}><label class="row">Line <input name="line" size={7} key={line} defaultValue={line} placeholder="12-20" autocomplete="off" /></label></form>
        <Copy text={text} what="file" label="Copy" />
        <button type="button" class="button small" onClick={() => saveText(fileName(path), text, 'text/plain')}>Download</button>
      </div>
      {isDeceptive && <p class="failure compact" role="note">Caution. This file has characters that change the direction of the text, so that code can look like something else. They are shown as codes.</p>}
      {text === '' ? <p class="empty">The file is empty.</p> : <Code code={code} name={withCodes(path)} lines={lines} urlOf={urlOf} open={open} />}
    </div>
  );
}
