import type { ReactNode } from 'react';
import { useMemberNames } from '../../data/workspace/member-names.ts';
import { Time } from '../figures/time.tsx';
import type { Column } from '../tables/data-table.tsx';
import classes from './versions.module.css';

interface VersionInfo {
  readonly notes: string | null;
  readonly createdBy: string | null;
  readonly createdAt: string;
}

/** The columns shared by version lists: label with notes, author, time and actions. */
export function useVersionColumns<Version extends VersionInfo>(columns: {
  readonly label: (version: Version) => ReactNode;
  /** Further columns after the label. */
  readonly extraColumns?: readonly Column<Version>[];
  readonly actions: (version: Version) => ReactNode;
}): readonly Column<Version>[] {
  const nameOf = useMemberNames();
  return [
    {
      header: 'Version',
      cell: (version) => (
        <>
          <div className={classes.label} dir="auto">
            {columns.label(version)}
          </div>
          {version.notes && (
            <div className={classes.notes} dir="auto">
              {version.notes}
            </div>
          )}
        </>
      ),
    },
    ...(columns.extraColumns ?? []),
    {
      header: 'By',
      hideBelow: 'sm',
      cell: ({ createdBy }) => (
        <span className="soft" dir="auto">
          {nameOf(createdBy)}
        </span>
      ),
    },
    {
      header: 'Saved',
      hideBelow: 'sm',
      cell: ({ createdAt }) => <Time at={createdAt} relative />,
    },
    {
      header: 'Actions',
      align: 'right',
      cell: (version) => <span className={classes.actions}>{columns.actions(version)}</span>,
    },
  ];
}
