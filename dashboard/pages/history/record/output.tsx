import { Button, Group, SegmentedControl } from '@mantine/core';
import { Suspense, useMemo, useState } from 'react';
import { CopyButton } from '../../../components/code/copy-button.tsx';
import { lazyComponent } from '../../../components/loading/lazy-component.tsx';
import { readJson } from './json-text.ts';
import { JsonTree } from './json-tree.tsx';
import { LongText } from './long-text.tsx';
import { rendersQuickly } from './markdown-limits.ts';
import classes from './record.module.css';

const Markdown = lazyComponent(() => import('./markdown.tsx'));

type View = 'text' | 'json' | 'markdown';

/** From this length on, the length is shown. */
const longMin = 20_000;

/** The model's output as text, as a JSON tree if it is JSON, or as Markdown without active content. */
export function Output(props: {
  readonly text: string;
  /** The JSON that was read from the text, if the agent asks for it. */
  readonly value: unknown;
  readonly pattern: RegExp | null;
  /** For the file's name. */
  readonly name: string;
}) {
  const { text, value, pattern, name } = props;
  const json = useMemo(() => (value === undefined ? readJson(text) : { value }), [text, value]);
  // The words of a search are marked in the text.
  const [view, setView] = useState<View>(json === null || pattern ? 'text' : 'json');
  const views = [
    { value: 'text', label: 'Text' },
    ...(json === null ? [] : [{ value: 'json', label: 'JSON' }]),
    ...(rendersQuickly(text) ? [{ value: 'markdown', label: 'Markdown' }] : []),
  ];
  return (
    <section className="stack-small" aria-label="Output">
      <Group gap="xs" className={classes.outputBar}>
        <h2>Output</h2>
        {views.length > 1 && (
          <SegmentedControl
            size="xs"
            aria-label="Output format"
            data={views}
            value={view}
            onChange={(chosen) => setView(chosen as View)}
          />
        )}
        <span className="grow" />
        {text.length >= longMin && (
          <span className="note">{text.length.toLocaleString()} characters</span>
        )}
        <Button size="compact-xs" variant="default" onClick={() => download(text, name)}>
          Download
        </Button>
        <CopyButton text={text} name="Output" />
      </Group>
      {view === 'markdown' ? (
        <Suspense>
          <Markdown text={text} />
        </Suspense>
      ) : view === 'json' && json !== null ? (
        <JsonTree value={json.value} />
      ) : (
        <LongText label="Output" text={text} pattern={pattern} />
      )}
    </section>
  );
}

function download(text: string, name: string): void {
  const href = URL.createObjectURL(new Blob([text], { type: 'text/plain;charset=utf-8' }));
  Object.assign(document.createElement('a'), { href, download: `${name}.txt` }).click();
  // The browser reads it later.
  setTimeout(() => URL.revokeObjectURL(href), 60_000);
}
