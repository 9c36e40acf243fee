import { batches } from '../batches.js';
import { ownershipOn, transitions } from '../ownership.js';
import { race, wall } from '../race.js';
import { lapLine, printTable } from '../report.js';
import { Transcript } from '../statements.js';
import { MysqlServer } from './database.js';
import { floor, WRITTEN } from './floor.js';

/** Prints the table of MySQL or MariaDB; an insert answers no rows there, so an acquisition also reads. */
export async function mysqlTable(url: string): Promise<void> {
  await using server = new MysqlServer(url);
  const transcript = new Transcript();
  const watched = await ownershipOn(await server.kysely('watched', transcript.onQuery));
  await ownershipOn(await server.kysely('floor'));
  const laps = await race(
    [
      floor('floor, 4 statements prepared once', await server.connection('floor')),
      transitions('  library', await ownershipOn(await server.kysely('library'))),
      transitions('  library, the write releases: one commit less', await ownershipOn(await server.kysely('both')), {
        release: true,
      }),
    ],
    { rounds: 40, times: 20, clock: wall },
  );
  const lines = [
    ...laps.map((lap) => lapLine(lap)),
    ...(await batches('library', await ownershipOn(await server.kysely('many')), { rounds: 3, clock: wall })),
    ...(await transcript.compare(watched, WRITTEN)),
  ];
  printTable(`${await server.durability('watched')}; mysql2, one connection`, lines);
}
