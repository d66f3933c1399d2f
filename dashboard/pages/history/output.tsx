import { SegmentedControl } from '@mantine/core';
import { Suspense, useMemo, useState } from 'react';
import { CodeBlock } from '../../components/code-block.tsx';
import { lazyComponent } from '../../components/lazy-component.tsx';
import { stringify } from '../../data/text/exact-json.ts';
import { indentJson } from './json-text.ts';
import { rendersQuickly } from './markdown-limits.ts';
import classes from './record.module.css';

const Markdown = lazyComponent(() => import('./markdown.tsx'));

type View = 'text' | 'json' | 'markdown';

/** The model's output as text, as JSON if there is any, or as Markdown without active content. */
export function Output(props: {
  readonly text: string;
  /** The JSON that was read from the text, if the agent asks for it. */
  readonly value: unknown;
}) {
  const { text, value } = props;
  const json = useMemo(
    () => (value === undefined ? indentJson(text) : stringify(value, 2)),
    [text, value],
  );
  const [view, setView] = useState<View>(json === null ? 'text' : 'json');
  const views = [
    { value: 'text', label: 'Text' },
    ...(json === null ? [] : [{ value: 'json', label: 'JSON' }]),
    ...(rendersQuickly(text) ? [{ value: 'markdown', label: 'Markdown' }] : []),
  ];
  return (
    <section className={classes.output} aria-label="Output">
      <SegmentedControl
        size="xs"
        aria-label="Output format"
        data={views}
        value={view}
        onChange={(chosen) => setView(chosen as View)}
      />
      {view === 'markdown' ? (
        <Suspense>
          <Markdown text={text} />
        </Suspense>
      ) : (
        <CodeBlock label="Output" code={view === 'json' && json !== null ? json : text} />
      )}
    </section>
  );
}
