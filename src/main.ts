#!/usr/bin/env node
// Checked before any other import, which could fail on an older Node.js without an explanation.
const [major = 0, minor = 0] = process.versions.node.split('.').map(Number);
if (major < 22 || (major === 22 && minor < 19)) {
  console.error(`cueline requires Node.js 22.19 or later, but this is ${process.versions.node}.`);
  process.exit(1);
}
(await import('./cli/server/disable-memory-reducer.ts')).disableMemoryReducer();
const { program } = await import('./cli/commands/program.ts');
await program.parseAsync();
