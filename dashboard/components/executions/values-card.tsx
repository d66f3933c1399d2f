import { Button, SegmentedControl, Textarea } from '@mantine/core';
import { useSessionStorage } from '@mantine/hooks';
import { type ReactNode, useState } from 'react';
import type { ValueField } from '../../data/agents/value-fields.ts';
import { parseJsonObject, toTextValues } from '../../data/text/json-object.ts';
import { ownProperty } from '../../data/text/own-property.ts';
import { ValuesFields } from '../fields/values-fields.tsx';
import { Card } from '../layout/card.tsx';
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
  const formValues = Object.fromEntries(
    fields.flatMap(({ name }) =>
      ownProperty(values, name) ? [[name, ownProperty(values, name)]] : [],
    ),
  );
  /** Null if the text is not a JSON object. */
  const input: Record<string, unknown> | null = json === null ? formValues : parseJsonObject(json);
  return { values, setValues, json, setJson, formValues, input };
}

/** Edits the input values as a form or as JSON. */
export function ValuesCard(
  props: ReturnType<typeof useValues> & {
    readonly title: string;
    readonly fields: readonly ValueField[];
    readonly children: ReactNode;
  },
) {
  const { title, fields, values, setValues, json, setJson, formValues, input } = props;
  const [cannotConvert, setCannotConvert] = useState(false);
  const choose = (format: string) => {
    if (format === 'JSON') return setJson(JSON.stringify(formValues, null, 2));
    const names = fields.map(({ name }) => name);
    const texts = input && toTextValues(input, names);
    setCannotConvert(texts === null);
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
          error={input === null && 'Not a JSON object.'}
          onChange={({ currentTarget }) => {
            setCannotConvert(false);
            setJson(currentTarget.value);
          }}
        />
      ) : fields.length === 0 ? (
        <p className="small-note">No input declared.</p>
      ) : (
        <ValuesFields fields={fields} values={values} onChange={setValues} />
      )}
      {json !== null && cannotConvert && (
        <div className="small-note" role="status">
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
