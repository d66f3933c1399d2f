import { ActionIcon, Group } from '@mantine/core';
import { Icon, type IconName } from '../icon.tsx';
import classes from './pager.module.css';

interface Pagination {
  readonly limit: number;
  readonly offset: number;
  readonly total: number;
  readonly hasMore: boolean;
}

/** Pagination controls: current range, first, previous, next and last page. */
export function Pager(props: {
  readonly pagination: Pagination;
  /** Rows on this page. */
  readonly count: number;
  /** False if there are more rows than `total`; default true. */
  readonly totalIsExact?: boolean;
  readonly onOffset: (offset: number) => void;
}) {
  const { limit, offset, total, hasMore } = props.pagination;
  const { count, totalIsExact: isExact = true } = props;
  if (total === 0) return null;
  const [first, last] = [isExact ? Math.min(offset + 1, total) : offset + 1, offset + count];
  const [page, pages] = [Math.floor(offset / limit) + 1, Math.max(1, Math.ceil(total / limit))];
  const pageButton = (label: string, icon: IconName, to: number, open: boolean) => (
    <ActionIcon
      variant="default"
      size="md"
      aria-label={label}
      title={label}
      disabled={!open}
      onClick={() => props.onOffset(to)}
    >
      <Icon name={icon} size={14} />
    </ActionIcon>
  );
  return (
    <nav className={classes.pager} aria-label="Pages">
      <span>
        {first.toLocaleString()}–{last.toLocaleString()} of{isExact ? '' : ' more than'}{' '}
        {total.toLocaleString()}
      </span>
      {(offset > 0 || hasMore) && (
        <Group gap="xs">
          <span>
            Page {page.toLocaleString()}
            {isExact && ` of ${pages.toLocaleString()}`}
          </span>
          {pageButton('First', 'first', 0, offset > 0)}
          {pageButton('Previous', 'left', Math.max(0, offset - limit), offset > 0)}
          {pageButton('Next', 'right', offset + limit, hasMore)}
          {isExact && pageButton('Last', 'last', (pages - 1) * limit, hasMore)}
        </Group>
      )}
    </nav>
  );
}
