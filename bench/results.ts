import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

/**
 * `RESULTS.md`: a section for each benchmark, which a later run of that benchmark replaces. Each says by itself on what
 * and how it was measured, so that sections of different runs can stand side by side.
 */
const file = join(import.meta.dirname, 'RESULTS.md');
const intro = `# Results

Written by \`npm run bench\`; what is measured and how is told in [README.md](README.md). Every figure is the median of its
rounds, with the lowest and the highest in brackets; ratios are taken within each round.
`;

export function keepSection(name: string, text: string, order: readonly string[]): void {
  const sections = new Map(readSections());
  sections.set(name, text);
  const sorted = [...sections].sort(([a], [b]) => order.indexOf(a) - order.indexOf(b));
  const all = sorted.map(([title, body]) => `## ${title}\n\n${body.trim()}\n`);
  writeFileSync(file, [intro, ...all].join('\n'));
}

function readSections(): [string, string][] {
  if (!existsSync(file)) return [];
  const [, ...sections] = readFileSync(file, 'utf8').split(/^## /m);
  return sections.map((section) => {
    const end = section.indexOf('\n');
    return [section.slice(0, end), section.slice(end + 1)];
  });
}
