import { Skeleton } from '@mantine/core';
import { Suspense } from 'react';
import editor from '../../components/editor/editor.module.css';
import { lazyComponent } from '../../components/loading/lazy-component.tsx';
import { schemaProblem, schemasProblem } from '../../data/prompts/schemas.ts';
import type { Draft } from './draft.ts';
import classes from './editor.module.css';

const JsonEditor = lazyComponent(() => import('../../components/editor/json-editor.tsx'));

/** Edits the schema of the output and those of variables. */
export function SchemaEditors(props: {
  readonly draft: Draft;
  /** The variables of the templates. */
  readonly names: readonly string[];
  readonly readOnly: boolean;
  readonly onEdit: (change: Partial<Draft>) => void;
}) {
  const { draft, names, readOnly, onEdit } = props;
  const sections = [
    {
      ...{ name: 'outputSchema', title: 'Output schema', value: draft.outputSchema },
      about: 'The output is JSON that matches this schema. Empty for text.',
      hint: '{"type": "object", "properties": {"answer": {"type": "string"}}}',
      error: schemaProblem(draft.outputSchema),
    },
    {
      ...{ name: 'schemas', title: 'Schemas of variables', value: draft.schemas },
      about: 'Calls with a value that does not match its schema fail with 400.',
      hint: '{"count": {"type": "integer", "minimum": 1}}',
      error: schemasProblem(draft.schemas, names),
    },
  ] as const;
  return sections.map(({ name, title, about, hint, value, error }) => (
    <section key={name} className={editor.frame}>
      <header className={classes.head}>
        <h2>{title}</h2>
        <span className="small-note">{about}</span>
      </header>
      <Suspense fallback={<Skeleton height={80} radius={0} />}>
        <JsonEditor
          label={title}
          hint={hint}
          value={value}
          readOnly={readOnly}
          error={error}
          onChange={(text) => onEdit({ [name]: text })}
        />
      </Suspense>
    </section>
  ));
}
