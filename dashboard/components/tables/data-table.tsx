import { Skeleton } from '@mantine/core';
import type { HTMLAttributes, ReactNode } from 'react';
import classes from './data-table.module.css';

export interface Column<Row> {
  /** Differs from the other headers. */
  readonly header: string;
  /** Shown instead of the header's text. */
  readonly headerCell?: ReactNode;
  /** Of a column by which the rows can be sorted. */
  readonly sorted?: 'ascending' | 'descending' | 'none' | undefined;
  readonly cell: (row: Row) => ReactNode;
  readonly align?: 'right';
  /** Hidden in tables narrower than this breakpoint. */
  readonly hideBelow?: 'sm' | 'md' | 'lg' | 'xl';
  /** Contains a `NameCell`. */
  readonly isName?: true;
  /** Stays at the right edge, for actions. */
  readonly sticky?: true;
}

/**
 * A table. If a cell has a link with `data-row-link`, the whole row is clickable, while keyboard and screen reader
 * users get a single link. Skeleton rows keep the layout stable while loading.
 */
export function DataTable<Row>(props: {
  /** The accessible name. */
  readonly caption: string;
  readonly columns: readonly Column<Row>[];
  /** The actions of a row, which stay at the right edge. */
  readonly actions?: ((row: Row) => ReactNode) | false | undefined;
  /** Undefined while loading. */
  readonly rows: readonly Row[] | undefined;
  readonly rowKey: (row: Row) => string;
  readonly loadingRows?: number;
  /** The rows belong to the previous query until new ones arrive. */
  readonly stale?: boolean;
  /** The header stays at the top of the window. The table then has no scroll bar of its own. */
  readonly stickyHeader?: boolean;
  readonly rowProps?: (row: Row) => HTMLAttributes<HTMLTableRowElement>;
}) {
  const { caption, actions, rows, rowKey, loadingRows = 8, stale = false, rowProps } = props;
  const columns = actions ? [...props.columns, actionsColumn(actions)] : props.columns;
  const of = (column: Column<Row>) => ({
    'data-align': column.align,
    'data-hide-below': column.hideBelow,
    'data-name': column.isName,
    'data-sticky': column.sticky,
  });
  return (
    <section
      className={classes.frame}
      aria-label={caption}
      // biome-ignore lint/a11y/noNoninteractiveTabindex: scrollable content must be reachable by keyboard.
      tabIndex={0}
      data-sticky-header={props.stickyHeader || undefined}
    >
      <table
        className={classes.table}
        aria-busy={rows === undefined}
        data-stale={stale || undefined}
      >
        <caption className="visually-hidden">{caption}</caption>
        <thead>
          <tr>
            {columns.map((column) => (
              <th key={column.header} scope="col" aria-sort={column.sorted} {...of(column)}>
                {column.headerCell ?? column.header}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {rows?.map((row) => (
            <tr key={rowKey(row)} {...rowProps?.(row)}>
              {columns.map((column) => (
                <td key={column.header} {...of(column)}>
                  {column.cell(row)}
                </td>
              ))}
            </tr>
          ))}
          {!rows &&
            Array.from({ length: loadingRows }, (_, index) => index).map((index) => (
              <tr key={index}>
                {columns.map((column) => (
                  <td key={column.header} {...of(column)}>
                    <Skeleton height={10} my={5} width={column.align ? '3rem' : '70%'} />
                  </td>
                ))}
              </tr>
            ))}
        </tbody>
      </table>
    </section>
  );
}

const actionsColumn = <Row,>(cell: (row: Row) => ReactNode): Column<Row> => ({
  ...{ header: 'Actions', align: 'right', sticky: true, cell },
});
