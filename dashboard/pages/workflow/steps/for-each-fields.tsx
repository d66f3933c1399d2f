import { Checkbox } from '@mantine/core';
import fields from '../../../components/fields/fields.module.css';
import { NumberField } from '../../../components/fields/number-field.tsx';
import {
  type DefinitionEdit,
  type DefinitionPath,
  setValue,
} from '../../../data/workflows/definition-edit.ts';
import type { Fields } from './step-agent.tsx';
import { ValueField } from './step-values.tsx';

/** Whether a step is executed once for each item of a list. */
export function ForEachFields(props: {
  readonly step: Fields;
  readonly references: readonly string[];
  readonly at: DefinitionPath;
  readonly onEdit: (edit: DefinitionEdit) => void;
}) {
  const { step, references, onEdit } = props;
  const at = [...props.at, 'forEach'];
  const set = (field: string, value: unknown) => onEdit(setValue([...at, field], value));
  const forEach = (step.forEach ?? null) as Fields | null;
  const numberOf = (field: string) =>
    typeof forEach?.[field] === 'number' ? (forEach[field] as number) : null;
  return (
    <>
      <Checkbox
        label="Once for each item of a list"
        checked={forEach !== null}
        onChange={({ currentTarget }) =>
          onEdit(setValue(at, currentTarget.checked ? { list: '' } : undefined))
        }
      />
      {forEach && (
        <>
          <ValueField
            label="List"
            description="The item is {{item}}, its position {{index}}"
            value={forEach.list}
            references={references.filter((one) => one !== 'item' && one !== 'index')}
            onChange={(list) => set('list', list ?? '')}
          />
          <div className={fields.halves}>
            <NumberField
              label="At the same time"
              placeholder="5"
              min={1}
              max={100}
              value={numberOf('concurrency')}
              onChange={(count) => set('concurrency', count ?? undefined)}
            />
            <NumberField
              label="At most"
              placeholder="100"
              min={1}
              max={1_000}
              value={numberOf('max')}
              onChange={(count) => set('max', count ?? undefined)}
            />
          </div>
        </>
      )}
    </>
  );
}
