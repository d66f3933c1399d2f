import { SegmentedControl, Textarea } from '@mantine/core';
import { useSessionStorage } from '@mantine/hooks';
import { type ReactNode, useState } from 'react';
import { readObject } from '../data/json-object.ts';
import type { ValueField } from '../data/value-fields.ts';
import { Card } from './card.tsx';
import classes from './values-card.module.css';
import { ValuesFields } from './values-fields.tsx';

/** What is typed for a run, kept in the browser's window under `key`. */
export function useValues(key: string, fields: readonly ValueField[]) {
  const [values, setValues] = useSessionStorage<Record<string, string>>({
    key,
    defaultValue: {},
    getInitialValueInEffect: false,
  });
  const [json, setJson] = useState<string | null>(null);
  // What was left empty counts as not given.
  const typed = Object.fromEntries(
    fields.flatMap(({ name }) => (values[name] ? [[name, values[name]]] : [])),
  );
  /** Null where the JSON is none. */
  const given: Record<string, unknown> | null = json === null ? typed : readObject(json);
  return { values, setValues, json, setJson, typed, given };
}

/** The values of a run, as a form or as JSON. */
export function ValuesCard(
  props: ReturnType<typeof useValues> & {
    readonly title: string;
    readonly fields: readonly ValueField[];
    readonly children: ReactNode;
  },
) {
  const { title, fields, values, setValues, json, setJson, typed, given } = props;
  return (
    <Card
      title={title}
      actions={
        <SegmentedControl
          size="xs"
          aria-label="How they are written"
          data={['Form', 'JSON']}
          value={json === null ? 'Form' : 'JSON'}
          onChange={(way) => setJson(way === 'JSON' ? JSON.stringify(typed, null, 2) : null)}
        />
      }
    >
      {json !== null ? (
        <Textarea
          aria-label={`${title} as JSON`}
          classNames={{ input: classes.json ?? '' }}
          autosize
          minRows={6}
          maxRows={24}
          spellCheck={false}
          value={json}
          error={given === null && 'This is not a JSON object.'}
          onChange={({ currentTarget }) => setJson(currentTarget.value)}
        />
      ) : fields.length === 0 ? (
        <p className={classes.none}>It takes none.</p>
      ) : (
        <ValuesFields fields={fields} values={values} onChange={setValues} />
      )}
      {props.children}
    </Card>
  );
}
