import { Link } from '@tanstack/react-router';
import type { PromptVersion } from '../../../src/client/index.ts';
import { useMemberNames } from '../../data/member-names.ts';
import type { Column } from '../../parts/data-table.tsx';
import { Time } from '../../parts/time.tsx';
import classes from './versions.module.css';

type Row = Omit<PromptVersion, 'system' | 'user'>;

export function useVersionColumns(promptId: string): readonly Column<Row>[] {
  const nameOf = useMemberNames();
  return [
    {
      key: 'version',
      header: 'Version',
      cell: ({ promptVersionLabel, notes }) => (
        <>
          <div className={classes.label}>{promptVersionLabel}</div>
          {notes && <div className={classes.notes}>{notes}</div>}
        </>
      ),
    },
    {
      key: 'model',
      header: 'Model',
      from: 'md',
      cell: ({ model }) => <span className={classes.code}>{model ?? '–'}</span>,
    },
    {
      key: 'author',
      header: 'By',
      from: 'sm',
      cell: ({ createdBy }) => <span className={classes.none}>{nameOf(createdBy)}</span>,
    },
    {
      key: 'created',
      header: 'Saved',
      from: 'sm',
      cell: ({ createdAt }) => <Time at={createdAt} since />,
    },
    {
      key: 'ways',
      header: 'Go on with it',
      align: 'right',
      cell: ({ promptVersionId, promptVersionLabel: label }) => (
        <span className={classes.ways}>
          <Link
            to="/prompts/$promptId"
            params={{ promptId }}
            search={{ from: promptVersionId }}
            aria-label={`Edit ${label}`}
          >
            Edit
          </Link>
          <Link
            to="/prompts/$promptId/playground"
            params={{ promptId }}
            search={{ left: promptVersionId }}
            aria-label={`Run ${label}`}
          >
            Run
          </Link>
        </span>
      ),
    },
  ];
}
