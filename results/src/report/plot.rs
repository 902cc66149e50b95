//! The figure of intervals against the margin, as SVG.
//!
//! Drawn in colours that stand for roles; each then becomes a variable of the page's style sheet, so that one drawing serves
//! light and dark. Coordinates are whole pixels: the bytes are the same everywhere.

use plotters::{
    coord::Shift,
    prelude::*,
    style::text_anchor::{HPos, Pos, VPos},
};

use super::{effects::EffectRow, error::ReportError, text::points};

/// Stand-ins for colours, and the variables that they become.
const INK: RGBColor = RGBColor(1, 1, 1);
const MUTED: RGBColor = RGBColor(2, 2, 2);
const GRID: RGBColor = RGBColor(3, 3, 3);
const LEVEL: RGBColor = RGBColor(4, 4, 4);
const CONTROL: RGBColor = RGBColor(5, 5, 5);
const MARGIN: RGBColor = RGBColor(6, 6, 6);
const BAND: RGBColor = RGBColor(7, 7, 7);
const VARIABLES: [(&str, &str); 7] = [
    ("#010101", "var(--ink)"),
    ("#020202", "var(--muted)"),
    ("#030303", "var(--line)"),
    ("#040404", "var(--level)"),
    ("#050505", "var(--control)"),
    ("#060606", "var(--bad)"),
    ("#070707", "var(--bad-soft)"),
];

/// Rows that a figure has at most.
const ROWS: usize = 200;
const ROW: i32 = 26;
const TOP: i32 = 26;
const BOTTOM: i32 = 44;

/// How wide a figure is, and where its parts stand, in pixels.
#[derive(Debug, Clone, Copy)]
pub(super) struct Layout {
    pub(super) width: i32,
    labels: i32,
    values: i32,
}

/// For a page of full width: labels, figure, numbers.
pub(super) const WIDE: Layout = Layout { width: 940, labels: 190, values: 210 };
/// For a narrow one: the numbers stand in the table below.
pub(super) const NARROW: Layout = Layout { width: 360, labels: 128, values: 12 };

/// Height of a figure of so many rows, in pixels.
pub(super) fn height(rows: usize) -> i32 {
    TOP + ROW * i32::try_from(rows.min(ROWS)).unwrap_or(0) + BOTTOM
}

/// Draws the effects of one family; none where there are none, or the margin is no number.
pub(super) fn forest(rows: &[&EffectRow], margin: &str, layout: Layout) -> Result<Option<String>, ReportError> {
    let Ok(margin) = margin.parse::<f64>() else { return Ok(None) };
    if rows.is_empty() {
        return Ok(None);
    }
    let height = height(rows.len());
    let scale = Scale::of(rows, 100.0 * margin, layout);
    let mut svg = String::new();
    let size = (layout.width.unsigned_abs(), height.unsigned_abs());
    let area = SVGBackend::with_string(&mut svg, size).into_drawing_area();
    draw(&area, &scale, rows, layout, height).map_err(|error| ReportError::Plot(error.to_string()))?;
    drop(area);
    Ok(Some(themed(&svg)))
}

/// Percentage points to pixels. What lies beyond the ends is drawn as an arrow at the end.
struct Scale {
    low: f64,
    high: f64,
    margin: f64,
    left: i32,
    right: i32,
}

impl Scale {
    /// Reaches to all ends of the levels' intervals and two margins to either side; controls that are far off don't count.
    fn of(rows: &[&EffectRow], margin: f64, layout: Layout) -> Self {
        let ends = rows.iter().filter(|row| !row.control).flat_map(|row| [&row.interval.lower, &row.interval.upper]);
        let ends = ends.filter_map(|end| end.parse::<f64>().ok()).map(|end| 100.0 * end);
        let (low, high) = ends.fold((-2.0 * margin, margin), |(low, high), end| (low.min(end), high.max(end)));
        let room = 0.06 * (high - low);
        Self { low: low - room, high: high + room, margin, left: layout.labels, right: layout.width - layout.values }
    }

    fn x(&self, points: f64) -> i32 {
        let share = ((points - self.low) / (self.high - self.low)).clamp(0.0, 1.0);
        // Within the width of a figure.
        #[expect(clippy::cast_possible_truncation, reason = "a pixel of a figure of some hundred pixels")]
        let at = (share * f64::from(self.right - self.left)).round() as i32;
        self.left + at
    }

    /// Round numbers of points, at most about eight.
    fn ticks(&self) -> Vec<f64> {
        let span = self.high - self.low;
        let steps = [0.5, 1.0, 2.0, 5.0, 10.0, 20.0, 25.0, 50.0];
        let step = steps.into_iter().find(|step| span / step <= 8.0).unwrap_or(100.0);
        #[expect(clippy::cast_possible_truncation, reason = "percentage points lie within some hundreds")]
        let (first, last) = ((self.low / step).ceil() as i32, (self.high / step).floor() as i32);
        (first..=last).map(|tick| f64::from(tick) * step).collect()
    }
}

type Area<'a> = DrawingArea<SVGBackend<'a>, Shift>;
type Drawn = Result<(), DrawingAreaErrorKind<std::io::Error>>;

#[expect(clippy::trivially_copy_pass_by_ref, reason = "a style borrows its colour")]
fn style(color: &'static RGBColor, size: i32, horizontal: HPos) -> TextStyle<'static> {
    TextStyle::from(("sans-serif", size).into_font()).color(color).pos(Pos::new(horizontal, VPos::Center))
}

fn line(area: &Area<'_>, color: RGBColor, width: u32, from: (i32, i32), to: (i32, i32)) -> Drawn {
    area.draw(&PathElement::new(vec![from, to], color.stroke_width(width)))
}

fn draw(area: &Area<'_>, scale: &Scale, rows: &[&EffectRow], layout: Layout, height: i32) -> Drawn {
    let bottom = height - BOTTOM;
    let margin = scale.x(-scale.margin);
    area.draw(&Rectangle::new([(scale.left, TOP), (margin, bottom)], BAND.filled()))?;
    for tick in scale.ticks() {
        let x = scale.x(tick);
        line(area, GRID, 1, (x, TOP), (x, bottom))?;
        let label = if tick.fract() == 0.0 { format!("{tick:+.0}") } else { format!("{tick:+.1}") };
        let label = if tick == 0.0 { "0".to_owned() } else { label };
        area.draw_text(&label, &style(&MUTED, 15, HPos::Center), (x, bottom + 13))?;
    }
    let zero = scale.x(0.0);
    line(area, INK, 1, (zero, TOP), (zero, bottom))?;
    dashed(area, margin, TOP - 6, bottom)?;
    let caption = format!("margin {}", points(&(-scale.margin / 100.0).to_string()));
    area.draw_text(&caption, &style(&MARGIN, 15, HPos::Center), (margin, TOP - 14))?;
    let unit =
        if layout.values > 100 { "difference from the reference, percentage points" } else { "percentage points" };
    let middle = i32::midpoint(scale.left, scale.right);
    area.draw_text(unit, &style(&MUTED, 15, HPos::Center), (middle, bottom + 32))?;
    for (row, at) in rows.iter().take(ROWS).zip(0..) {
        effect(area, scale, row, layout, TOP + ROW * at + ROW / 2)?;
    }
    area.present()
}

fn dashed(area: &Area<'_>, x: i32, from: i32, to: i32) -> Drawn {
    let mut y = from;
    while y < to {
        line(area, MARGIN, 2, (x, y), (x, (y + 6).min(to)))?;
        y += 10;
    }
    Ok(())
}

fn effect(area: &Area<'_>, scale: &Scale, row: &EffectRow, layout: Layout, y: i32) -> Drawn {
    let color = if row.control { CONTROL } else { LEVEL };
    let label = if layout.values > 100 {
        clipped(&format!("{} · {}", row.arm, row.endpoint), 26)
    } else {
        clipped(&format!("{} {}", row.arm, short(&row.endpoint)), 18)
    };
    area.draw_text(&label, &style(&INK, 15, HPos::Left), (0, y))?;
    let parsed = |end: &str| end.parse::<f64>().ok().map(|end| 100.0 * end);
    if let (Some(lower), Some(upper)) = (parsed(&row.interval.lower), parsed(&row.interval.upper)) {
        let point = 100.0 * row.difference.value();
        let (from, to) = (scale.x(lower), scale.x(upper));
        line(area, color, 2, (from, y), (to.max(from + 1), y))?;
        for (end, x) in [(lower, from), (upper, to)] {
            cap(area, scale, color, end, (x, y))?;
        }
        if point >= scale.low && point <= scale.high {
            let x = scale.x(point);
            if row.control {
                area.draw(&Circle::new((x, y), 4, color.filled()))?;
            } else {
                area.draw(&Rectangle::new([(x - 4, y - 4), (x + 4, y + 4)], color.filled()))?;
            }
        }
    }
    if layout.values > 100 {
        let numbers = format!(
            "{} [{}, {}]",
            crate::table::signed(100.0 * row.difference.value()),
            points(&row.interval.lower),
            points(&row.interval.upper)
        );
        area.draw_text(&numbers, &style(&INK, 15, HPos::Right), (layout.width, y))?;
    }
    Ok(())
}

/// The end of an interval: a bar, or an arrow where it lies beyond the figure.
fn cap(area: &Area<'_>, scale: &Scale, color: RGBColor, end: f64, (x, y): (i32, i32)) -> Drawn {
    if end < scale.low {
        area.draw(&Polygon::new(vec![(x, y), (x + 9, y - 5), (x + 9, y + 5)], color.filled()))
    } else if end > scale.high {
        area.draw(&Polygon::new(vec![(x, y), (x - 9, y - 5), (x - 9, y + 5)], color.filled()))
    } else {
        line(area, color, 2, (x, y - 4), (x, y + 4))
    }
}

/// An endpoint's name where there is little room, as in the table of a terminal.
fn short(endpoint: &str) -> &str {
    match endpoint {
        "selection" => "sel",
        "arguments" => "args",
        "first-call" => "1st",
        other => other,
    }
}

fn clipped(text: &str, most: usize) -> String {
    if text.chars().count() <= most {
        return text.to_owned();
    }
    text.chars().take(most - 1).chain(['…']).collect()
}

/// Stand-in colours become variables. The frame of the drawing is the page's: only what is within is kept.
fn themed(svg: &str) -> String {
    let inner = svg.split_once(">\n").map_or("", |(_, rest)| rest).trim_end();
    let inner = inner.strip_suffix("</svg>").unwrap_or(inner);
    VARIABLES.iter().fold(inner.to_owned(), |svg, (color, variable)| svg.replace(color, variable))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{certificate::fixture::certificate, report::effects::effects};

    #[test]
    fn no_colour_is_fixed_and_every_row_is_drawn() {
        let rows = effects(&certificate());
        let rows: Vec<&EffectRow> = rows.iter().collect();
        let svg = forest(&rows, "0.02", WIDE).unwrap().unwrap();
        assert!(!svg.contains("=\"#"), "{svg}");
        for row in rows {
            assert!(svg.contains(&format!("{} · {}", row.arm, row.endpoint)), "{}", row.arm);
        }
    }

    #[test]
    fn text_of_strangers_is_escaped_in_the_drawing() {
        let mut row = effects(&certificate()).remove(0);
        row.arm = "<script>&\"".to_owned();
        let svg = forest(&[&row], "0.02", WIDE).unwrap().unwrap();
        assert!(svg.contains("&lt;script&gt;&amp;"), "{svg}");
        assert!(!svg.contains("<script"));
    }

    #[test]
    fn an_interval_beyond_the_figure_ends_in_an_arrow() {
        let rows = effects(&certificate());
        let far: Vec<&EffectRow> = rows.iter().filter(|row| row.arm == "names-only" || row.arm == "L0").collect();
        assert!(forest(&far, "0.02", NARROW).unwrap().unwrap().contains("<polygon"));
    }
}
