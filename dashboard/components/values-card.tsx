import { Button, SegmentedControl, Textarea } from '@mantine/core';
import { useSessionStorage } from '@mantine/hooks';
import { type ReactNode, useState } from 'react';
import type { ValueField } from '../data/agents/value-fields.ts';
import { objectOf, textsOf } from '../data/text/json-object.ts';
import { own } from '../data/text/own-property.ts';
import { Card } from './card.tsx';
import { ValuesFields } from './fields/values-fields.tsx';
import classes from './values-card.module.css';

/** Input values typed by the user, kept in session storage under `key`. */
export function useValues(key: string, fields: readonly ValueField[]) {
  const [values, setValues] = useSessionStorage<Record<string, string>>({
    key,
    defaultValue: {},
    getInitialValueInEffect: false,
  });
  const [json, setJson] = useSessionStorage<string | null>({
    key: `${key}-json`,
    defaultValue: null,
    getInitialValueInEffect: false,
  });
  // Empty fields count as not set.
  const typed = Object.fromEntries(
    fields.flatMap(({ name }) => (own(values, name) ? [[name, own(values, name)]] : [])),
  );
  /** Null if the text is not a JSON object. */
  const given: Record<string, unknown> | null = json === null ? typed : objectOf(json);
  return { values, setValues, json, setJson, typed, given };
}

/** Edits the input values as a form or as JSON. */
export function ValuesCard(
  props: ReturnType<typeof useValues> & {
    readonly title: string;
    readonly fields: readonly ValueField[];
    readonly children: ReactNode;
  },
) {
  const { title, fields, values, setValues, json, setJson, typed, given } = props;
  const [stuck, setStuck] = useState(false);
  const choose = (way: string) => {
    if (way === 'JSON') return setJson(JSON.stringify(typed, null, 2));
    const names = fields.map(({ name }) => name);
    const texts = given && textsOf(given, names);
    setStuck(texts === null);
    if (texts === null) return;
    setValues(texts);
    setJson(null);
  };
  return (
    <Card
      title={title}
      actions={
        <SegmentedControl
          size="xs"
          aria-label="Input format"
          data={['Form', 'JSON']}
          value={json === null ? 'Form' : 'JSON'}
          onChange={choose}
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
          error={given === null && 'Not a JSON object.'}
          onChange={({ currentTarget }) => {
            setStuck(false);
            setJson(currentTarget.value);
          }}
        />
      ) : fields.length === 0 ? (
        <p className={classes.none}>No input declared.</p>
      ) : (
        <ValuesFields fields={fields} values={values} onChange={setValues} />
      )}
      {json !== null && stuck && (
        <div className={classes.none} role="status">
          The form supports only text values of declared fields.{' '}
          <Button size="compact-xs" variant="default" onClick={() => setJson(null)}>
            Discard JSON and use form
          </Button>
        </div>
      )}
      {props.children}
    </Card>
  );
}
