import { Link } from '@tanstack/react-router';
import type { Prompt } from '../../../src/client/index.ts';
import { Time } from '../../components/figures/time.tsx';
import type { Column } from '../../components/tables/data-table.tsx';
import { NameCell, rowLink } from '../../components/tables/name-cell.tsx';
import { formatCount } from '../../data/text/format.ts';

export const columns: readonly Column<Prompt>[] = [
  {
    header: 'Prompt',
    isName: true,
    cell: ({ promptId, name, description }) => (
      <NameCell
        name={
          <Link to="/prompts/$promptId" params={{ promptId }} {...rowLink(name)}>
            {name}
          </Link>
        }
        about={description}
      />
    ),
  },
  {
    header: 'Latest version',
    cell: ({ latestVersion }) =>
      latestVersion ? (
        <span className="code">{latestVersion.promptVersionLabel}</span>
      ) : (
        <span className="soft">none yet</span>
      ),
  },
  {
    header: 'Variables',
    hideBelow: 'md',
    cell: ({ latestVersion }) => (
      <span className="code">{short(latestVersion?.variables ?? [])}</span>
    ),
  },
  {
    header: 'Model',
    hideBelow: 'md',
    cell: ({ latestVersion }) => <span className="code">{latestVersion?.model ?? '–'}</span>,
  },
  {
    header: 'Versions',
    align: 'right',
    hideBelow: 'sm',
    cell: ({ versionCount }) => formatCount(versionCount),
  },
  {
    header: 'Updated',
    align: 'right',
    hideBelow: 'sm',
    cell: ({ updatedAt, latestVersion }) => (
      <Time at={later(updatedAt, latestVersion?.createdAt)} relative />
    ),
  },
];

const shownMax = 3;

function short(names: readonly string[]): string {
  if (names.length === 0) return '–';
  const more = names.length - shownMax;
  return names.slice(0, shownMax).join(', ') + (more > 0 ? ` and ${more} more` : '');
}

function later(one: string, other = one): string {
  return Date.parse(one) > Date.parse(other) ? one : other;
}
