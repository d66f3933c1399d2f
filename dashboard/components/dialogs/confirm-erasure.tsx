import { useQuery } from '@tanstack/react-query';
import type { ErasureInput, ErasurePreview } from '../../../src/client/index.ts';
import { erasurePreviewQuery, erasures } from '../../data/workspace/retention.ts';
import { ConfirmDialog } from '../../kit/confirm-dialog.tsx';
import { withInput } from '../../kit/resource.ts';
import { Time } from '../figures/time.tsx';
import { FormError } from '../states/form-error.tsx';

/** What identifies an end user whose records are erased. */
export const erasedBy = {
  user: 'User',
  variable: 'Variable',
  metadata: 'Metadata',
  tag: 'Tag',
} as const;
export type ErasedBy = keyof typeof erasedBy;

export const isNamed = (by: ErasedBy) => by === 'variable' || by === 'metadata';

/** Asks before all records of an end user are deleted, and says how many there are. */
export function ConfirmErasure(props: {
  readonly by: ErasedBy;
  readonly name: string;
  readonly value: string;
  readonly onDone: () => void;
}) {
  const { by, name, value, onDone } = props;
  const input = bodyOf(by, name, value);
  const preview = useQuery(erasurePreviewQuery(input));
  return (
    <ConfirmDialog
      title="Erase these records?"
      confirm="Erase"
      typed={value}
      pending={preview.isLoading}
      action={withInput(erasures.create(), input)}
      onDone={onDone}
    >
      <p>
        Deletes all records of all agents with the {erasedBy[by].toLowerCase()}{' '}
        {isNamed(by) && <code>{name}</code>} “<bdi>{value}</bdi>”. This cannot be undone. Statistics
        stay.
      </p>
      <p role="status">
        {preview.data ? <Extent {...preview.data} /> : preview.isError ? null : 'Counting…'}
      </p>
      <FormError error={preview.error} />
    </ConfirmDialog>
  );
}

/** How many records, from when to when, as far as the preview looked. */
function Extent({ records, isLowerBound, from, to }: ErasurePreview) {
  const older = isLowerBound && ' Only the newest records were counted: erasing searches all.';
  if (from === null || to === null)
    return (
      <>
        No record matches{isLowerBound && ' so far'}.{older}
      </>
    );
  const count = records === 1 ? '1 record' : `${records.toLocaleString()} records`;
  return (
    <>
      <b>
        {isLowerBound && 'At least '}
        {count}
      </b>
      , from <Time at={from} /> to <Time at={to} />.{older}
    </>
  );
}

function bodyOf(by: ErasedBy, name: string, value: string): ErasureInput {
  switch (by) {
    case 'user':
      return { user: value };
    case 'tag':
      return { tag: value };
    case 'metadata':
      return { metadata: { [name]: value } };
    case 'variable':
      return { variable: name, value };
  }
}
