// How the page is built: one folder of files with hashed names, the same bytes each time.
import { build, defineConfig } from 'vite';

/**
 * Puts the script that starts data requests into the head of the page. It is a file of its own, since the content
 * security policy allows no script inside of the page, and it is classic, so that it runs before anything else is there.
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
        return html.replace('<meta charset="utf-8">', `<meta charset="utf-8">\n  <script src="/${file}"></script>`);
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
  },
});
