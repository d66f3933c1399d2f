import { execFileSync } from 'node:child_process';
import {
  cpSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { build } from 'vite';
import { wireTypes } from '../src/faces/reference/wire-types.ts';

/**
 * The client as a package of its own: one file as ES module and one as CommonJS, and types that need no other package. It
 * also works where its folder is only copied, so its files refer to each other by relative paths.
 */

const root = join(import.meta.dirname, '..');

/** Writes the package into this folder. */
export async function buildClientPackage(folder: string): Promise<void> {
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(folder, { recursive: true });
  await build({
    ...{ root, configFile: false, logLevel: 'warn' },
    build: {
      ...{ outDir: folder, emptyOutDir: false, copyPublicDir: false, minify: false },
      target: 'es2022',
      lib: {
        entry: join(root, 'src/client/index.ts'),
        formats: ['es', 'cjs'],
        fileName: (format) => (format === 'es' ? 'index.mjs' : 'index.js'),
      },
    },
  });
  writeTypes(join(folder, 'types'));
  // The types are those of CommonJS, which an ES module may import; the reverse is an error.
  for (const name of ['index.d.ts', 'index.d.mts']) {
    writeFileSync(join(folder, name), "export * from './types/index.js';\n");
  }
  const text = `${JSON.stringify(manifest(), null, 2)}\n`;
  writeFileSync(join(folder, 'package.json'), text);
  cpSync(join(root, 'LICENSE'), join(folder, 'LICENSE'));
  cpSync(join(root, 'clients/typescript/README.md'), join(folder, 'README.md'));
}

/** The declarations of `src/client`. Its types of the wire come from the contract, which is not part of the package. */
function writeTypes(folder: string): void {
  const made = mkdtempSync(join(tmpdir(), 'cueline-client-'));
  try {
    const config = {
      extends: join(root, 'tsconfig.build.json'),
      compilerOptions: {
        ...{ emitDeclarationOnly: true, rootDir: join(root, 'src'), outDir: made },
        typeRoots: [join(root, 'node_modules/@types')],
      },
      include: [],
      files: [join(root, 'src/client/index.ts')],
    };
    const file = join(made, 'tsconfig.json');
    writeFileSync(file, JSON.stringify(config));
    const compiler = join(root, 'node_modules/typescript/bin/tsc');
    execFileSync(process.execPath, [compiler, '-p', file], { stdio: 'inherit' });
    writeFileSync(join(made, 'client/wire.d.ts'), wireTypes());
    mkdirSync(folder);
    for (const name of readdirSync(join(made, 'client'))) {
      const text = readFileSync(join(made, 'client', name), 'utf8');
      // Compilers before 5.7 do not know the extension of a source in an import.
      writeFileSync(join(folder, name), text.replaceAll(/(from '\.[^']*)\.ts'/g, "$1.js'"));
    }
  } finally {
    rmSync(made, { recursive: true });
  }
}

function manifest() {
  const { version, license } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'));
  return {
    name: 'cueline-client',
    version,
    description: 'Client of Cueline, a self-hosted agent execution service. No dependencies.',
    license,
    // The form of index.js, also in a folder of an ES module.
    type: 'commonjs',
    main: './index.js',
    module: './index.mjs',
    types: './index.d.ts',
    exports: {
      '.': {
        import: { types: './index.d.mts', default: './index.mjs' },
        require: { types: './index.d.ts', default: './index.js' },
      },
      './package.json': './package.json',
    },
    sideEffects: false,
    engines: { node: '>=20' },
  };
}
