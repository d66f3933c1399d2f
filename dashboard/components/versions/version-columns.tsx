import type { ReactNode } from 'react';
import { useMemberNames } from '../../data/workspace/member-names.ts';
import type { Column } from '../data-table.tsx';
import { Time } from '../time.tsx';
import classes from './versions.module.css';

interface Saved {
  readonly notes: string | null;
  readonly createdBy: string | null;
  readonly createdAt: string;
}

/** The columns shared by version lists: label with notes, author, time and actions. */
export function useVersionColumns<Version extends Saved>(columns: {
  readonly label: (version: Version) => ReactNode;
  /** An extra column after the label. */
  readonly more?: Column<Version>;
  readonly ways: (version: Version) => ReactNode;
}): readonly Column<Version>[] {
  const nameOf = useMemberNames();
  return [
    {
      key: 'version',
      header: 'Version',
      cell: (version) => (
        <>
          <div className={classes.label}>{columns.label(version)}</div>
          {version.notes && <div className={classes.notes}>{version.notes}</div>}
        </>
      ),
    },
    ...(columns.more ? [columns.more] : []),
    {
      key: 'by',
      header: 'By',
      from: 'sm',
      cell: ({ createdBy }) => <span className={classes.none}>{nameOf(createdBy)}</span>,
    },
    {
      key: 'saved',
      header: 'Saved',
      from: 'sm',
      cell: ({ createdAt }) => <Time at={createdAt} since />,
    },
    {
      key: 'ways',
      header: 'Actions',
      align: 'right',
      cell: (version) => <span className={classes.ways}>{columns.ways(version)}</span>,
    },
  ];
}
