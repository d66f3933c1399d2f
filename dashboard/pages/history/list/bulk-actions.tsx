import { Button, Menu } from '@mantine/core';
import { useNavigate } from '@tanstack/react-router';
import { useEffect, useRef, useState } from 'react';
import { ConfirmDialog } from '../../../components/dialogs/confirm-dialog.tsx';
import { Icon } from '../../../components/icon.tsx';
import { FormError } from '../../../components/states/form-error.tsx';
import { announceSave } from '../../../data/client/saves.ts';
import {
  type BulkAction,
  type BulkResult,
  targetsOf,
  useBulkAction,
} from '../../../data/executions/bulk.ts';
import { type Execution, isInProgress } from '../../../data/executions/executions.ts';
import { can, useMe } from '../../../data/workspace/me.ts';
import classes from '../history.module.css';
import { useExport } from './export-menu.tsx';
import type { Selection } from './use-selection.ts';

/** What can be done with the selected executions. */
export function BulkActions(props: {
  readonly agentId: string | undefined;
  readonly selection: Selection;
  readonly onDeleted: (executionIds: readonly string[]) => void;
}) {
  const { selection, onDeleted } = props;
  const canEdit = can(useMe(), 'edit');
  const [chosen, choose] = useState<Pick<BulkDialogProps, 'action' | 'rows'> | null>(null);
  const { rows } = selection;
  const offer = (one: BulkAction) => {
    const targets = targetsOf(one, rows);
    const count = targets.length;
    if (count === 0) return null;
    const label = labels[one];
    return (
      <Button
        key={one}
        size="xs"
        variant="default"
        onClick={() => choose({ action: one, rows: targets })}
      >
        {count === rows.length ? label : `${label} (${count})`}
      </Button>
    );
  };
  return (
    <>
      <span role="status">{rows.length.toLocaleString()} selected</span>
      {canEdit && (['cancel', 'run again'] as const).map(offer)}
      <Compare rows={rows} />
      <ExportSelected agentId={props.agentId} rows={rows} />
      {canEdit && offer('delete')}
      <Button size="xs" variant="subtle" color="gray" onClick={selection.clear}>
        Clear selection
      </Button>
      {chosen && (
        <BulkDialog
          {...chosen}
          onClose={() => choose(null)}
          onDone={({ done, failed }) => {
            if (chosen.action === 'delete') onDeleted(done.map(({ executionId }) => executionId));
            // While any are selected, this dialog stays.
            else selection.select(failed.map(({ target }) => target.executionId));
          }}
        />
      )}
    </>
  );
}

const labels = { cancel: 'Cancel', 'run again': 'Run again', delete: 'Delete' } as const;
const past = { cancel: 'canceled', 'run again': 'started', delete: 'deleted' } as const;

const consequences = {
  cancel: 'Their model calls are aborted. What they have used so far is charged.',
  'run again':
    'Each runs the version that its agent pins now, with the same variables, and uses one AI Action.',
  delete:
    'The records are deleted permanently, with their variables, prompts and outputs. Statistics keep their usage and cost.',
} as const;

interface BulkDialogProps {
  readonly action: BulkAction;
  /** As they were when the dialog opened: the selection changes once some are done. */
  readonly rows: readonly Execution[];
  readonly onClose: () => void;
  readonly onDone: (result: BulkResult) => void;
}

function BulkDialog(props: BulkDialogProps) {
  const { action, rows, onClose, onDone } = props;
  const bulk = useBulkAction();
  const what = rows.length === 1 ? '1 execution' : `${rows.length.toLocaleString()} executions`;
  const hasFailed = bulk.data !== undefined && bulk.data.failed.length > 0;
  const start = () =>
    bulk.mutate(
      { action, rows },
      {
        onSuccess: (result) => {
          onDone(result);
          announceSave(`${result.done.length.toLocaleString()} ${past[action]}`);
          if (result.failed.length === 0) onClose();
        },
      },
    );
  return (
    <ConfirmDialog
      opened
      title={`${labels[action]} ${what}${hasFailed ? '' : '?'}`}
      confirmLabel={labels[action]}
      cancelLabel={hasFailed ? 'Close' : action === 'cancel' ? 'Keep running' : 'Cancel'}
      destructive={action === 'delete'}
      mutation={bulk}
      onClose={onClose}
      onConfirm={hasFailed ? null : start}
    >
      {hasFailed ? <Failures result={bulk.data} /> : <p>{consequences[action]}</p>}
      {bulk.isPending && (
        <p role="status">
          {bulk.progress.toLocaleString()} of {rows.length.toLocaleString()}
        </p>
      )}
    </ConfirmDialog>
  );
}

function Failures({ result: { done, failed } }: { readonly result: BulkResult }) {
  const all = useRef<HTMLDivElement>(null);
  // The focused button was removed.
  useEffect(() => all.current?.focus(), []);
  return (
    <div ref={all} tabIndex={-1} className={classes.failures} role="alert">
      {failed.length.toLocaleString()} of {(done.length + failed.length).toLocaleString()} failed:
      <ul>
        {failed.slice(0, 10).map(({ target, message }) => (
          <li key={target.executionId}>
            <code>{target.executionId}</code> <bdi>{message}</bdi>
          </li>
        ))}
      </ul>
    </div>
  );
}

function Compare({ rows }: { readonly rows: readonly Execution[] }) {
  const navigate = useNavigate();
  const [newer, older] = rows;
  if (rows.length !== 2 || !newer || !older) return null;
  const place = ({ agentId, executionId }: Execution) => `${agentId}/${executionId}`;
  const search = { before: place(older), after: place(newer) };
  return (
    <Button
      size="xs"
      variant="default"
      onClick={() => void navigate({ to: '/history/compare', search })}
    >
      Compare
    </Button>
  );
}

/** Limit of the API. */
const exportedMax = 100;

/** Only records are exported. */
function ExportSelected(props: {
  readonly agentId: string | undefined;
  readonly rows: readonly Execution[];
}) {
  const ended = props.rows.filter((row) => !isInProgress(row));
  const executionId = ended.map((row) => row.executionId);
  const { begin, items } = useExport(props.agentId, { executionId });
  return (
    <>
      <Menu width={220}>
        <Menu.Target>
          <Button
            size="xs"
            variant="default"
            disabled={ended.length === 0 || ended.length > exportedMax}
            loading={begin.isPending}
            rightSection={<Icon name="down" size={12} />}
          >
            Export
          </Button>
        </Menu.Target>
        <Menu.Dropdown>{items}</Menu.Dropdown>
      </Menu>
      <FormError error={begin.error} />
    </>
  );
}
