// The build of the page: one folder of files with hashed names, the same bytes each time.
import { build, defineConfig } from 'vite';

/** Pages that are loaded on demand: the first segment of their path, and their module. */
const LAZY_PAGES = {
  block: 'pages/Block', tx: 'pages/Tx', accounts: 'pages/Accounts', address: 'pages/Address', token: 'pages/Token', tokens: 'pages/Tokens', search: 'pages/Search',
  scan: 'scan/Scan', charts: 'charts/Charts', sql: 'sql/Sql', status: 'pages/Status', tools: 'pages/Tools', gas: 'pages/Gas', names: 'pages/Names', op: 'pages/Operations', ops: 'pages/Operations',
};

/** Their files as `word:file,file;word:file`, so that the start script can preload them. */
function partsOf(bundle) {
  const chunks = Object.values(bundle).filter((file) => file.type === 'chunk');
  const chunkOf = (file) => chunks.find((chunk) => chunk.fileName === file);
  const withImports = (file) => [file, ...(chunkOf(file)?.imports ?? []).flatMap(withImports)];
  const first = withImports(chunks.find((chunk) => chunk.isEntry).fileName);
  const part = ([word, module]) => {
    const page = chunks.find((chunk) => chunk.facadeModuleId?.endsWith(`/src/${module}.tsx`));
    if (!page) throw new Error(`${module} is no file of its own`);
    const files = [...new Set(withImports(page.fileName))].filter((file) => !first.includes(file));
    return `${word}:${files.map((file) => file.split('/').at(-1)).join(',')}`;
  };
  return Object.entries(LAZY_PAGES).map(part).join(';');
}

/**
 * Puts the script that starts data requests into the head of the page. It is a file of its own, since the content
 * security policy allows no script inside of the page, and it is a classic one, so that it runs before everything else.
 */
function startScript() {
  let name = '';
  return {
    name: 'trawl-start-script',
    apply: 'build',
    async buildStart() {
      const built = await build({
        configFile: false,
        logLevel: 'error',
        build: { write: false, target: 'es2022', lib: { entry: 'src/start/start.ts', formats: ['iife'], name: 'start' } },
      });
      const outputs = Array.isArray(built) ? built : [built];
      const source = outputs[0].output[0].code;
      name = this.emitFile({ type: 'asset', name: 'start.js', source });
    },
    transformIndexHtml: {
      order: 'post',
      handler(html, context) {
        const file = Object.keys(context.bundle).find((file) => /start-.*\.js$/.test(file));
        if (!name || !file) throw new Error('the start script was not built');
        return html.replace('<meta charset="utf-8">', `<meta charset="utf-8">\n  <script src="/${file}" data-parts="${partsOf(context.bundle)}"></script>`);
      },
    },
  };
}

export default defineConfig({
  plugins: [startScript()],
  build: {
    target: 'es2022',
    // `cargo xtask web --check` builds elsewhere and compares.
    outDir: process.env['TRAWL_WEB_OUT'] ?? 'dist',
    emptyOutDir: true,
    assetsDir: '_/assets',
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    reportCompressedSize: false,
    // Shared code is one file: many small ones compress worse.
    rolldownOptions: {
      output: {
        codeSplitting: {
          groups: [
            { name: 'shared', test: /node_modules\/@?preact|src\/(api|parts|state)\/(?!list\/Chunks)|src\/format\/(amount|hash|time|search_item)|src\/pages\/columns|src\/start\/requests/ },
            { name: 'keccak', test: /node_modules\/@noble\/hashes|src\/format\/keccak/ },
          ],
        },
      },
    },
  },
});
