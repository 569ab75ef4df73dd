/**
 * The form of summaries. Each law throws `LawBroken` where it does not hold.
 *
 * @since 0.1.0
 */
import type * as FileOps from "@cutpoint/core/FileOps"
import * as SummaryFormat from "@cutpoint/core/SummaryFormat"
import * as Law from "./Law.js"

/** A summary whose items are single lines with nothing to trim is read as it was printed. */
export const isReadAsPrinted = (summary: SummaryFormat.Summary): void => {
  const printed = SummaryFormat.print(summary)
  const read = SummaryFormat.parse(printed)
  Law.same(
    "A summary is read as it was printed.",
    `Of ${Law.shown(printed)} the sections`,
    Object.entries(read),
    Object.entries(summary)
  )
}

/** The file blocks that were put behind a summary are taken out whole, whatever the files are called. */
export const blocksComeOutWhole = (summary: string, files: FileOps.FileLists): void => {
  const without = SummaryFormat.withoutBlocks(SummaryFormat.withFileBlocks(summary, files))
  Law.same("The blocks that were put behind a summary are taken out whole.", "The rest", [without], [summary])
}
