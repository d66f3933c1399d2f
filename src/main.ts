#!/usr/bin/env node
// Nothing else is imported before the check: an older Node would fail on the import, and not say why.
const [major = 0] = process.versions.node.split('.').map(Number);
if (major < 24) {
  console.error(`cueline needs Node 24 or later; this is ${process.versions.node}.`);
  process.exit(1);
}
(await import('./cli/server/keep-compiled-code.ts')).stayWarm();
const { program } = await import('./cli/program.ts');
await program.parseAsync();
