//! Power curves as an SVG document. No system fonts are read: text stays text, and the viewer draws it.

use bench_protocol::plan::Curve;
use plotters::prelude::{
    ChartBuilder, Color as _, IntoDrawingArea as _, IntoFont as _, LineSeries, PathElement, RGBColor, SVGBackend, WHITE,
};

/// Colours that people with any colour vision can tell apart (Okabe and Ito 2008).
const COLOURS: [RGBColor; 6] = [
    RGBColor(0, 114, 178),
    RGBColor(213, 94, 0),
    RGBColor(0, 158, 115),
    RGBColor(204, 121, 167),
    RGBColor(86, 180, 233),
    RGBColor(230, 159, 0),
];

/// Draws the curves, the target as a line, and the planned number of tasks where there is one.
pub fn power_curves(title: &str, curves: &[Curve], target: f64, planned: Option<u64>) -> anyhow::Result<String> {
    let mut svg = String::new();
    let sizes = || curves.iter().flat_map(|curve| curve.points.iter().map(|&(n, _)| n));
    let (first, last) = (sizes().min().unwrap_or(0), sizes().max().unwrap_or(1));
    {
        let root = SVGBackend::with_string(&mut svg, (900, 560)).into_drawing_area();
        root.fill(&WHITE)?;
        let mut chart = ChartBuilder::on(&root)
            .margin(16)
            .caption(title, ("sans-serif", 18).into_font())
            .x_label_area_size(44)
            .y_label_area_size(56)
            .build_cartesian_2d(first..last, 0.0..1.0)?;
        chart
            .configure_mesh()
            .x_desc("tasks")
            .y_desc("chance that the gate passes")
            .y_label_formatter(&|power| format!("{power:.1}"))
            .draw()?;
        for (curve, colour) in curves.iter().zip(COLOURS.iter().cycle()) {
            let label = format!("psi {}, difference {}", curve.discordance, curve.difference);
            let colour = *colour;
            chart
                .draw_series(LineSeries::new(curve.points.iter().copied(), colour.stroke_width(2)))?
                .label(label)
                .legend(move |(x, y)| PathElement::new([(x, y), (x + 18, y)], colour.stroke_width(2)));
        }
        let grey = RGBColor(110, 110, 110);
        chart.draw_series(LineSeries::new([(first, target), (last, target)], grey))?;
        if let Some(n) = planned {
            chart.draw_series(LineSeries::new([(n, 0.0), (n, 1.0)], grey))?;
        }
        chart.configure_series_labels().background_style(WHITE.mix(0.85)).border_style(grey).draw()?;
        root.present()?;
    }
    Ok(svg)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_curve_is_drawn_and_named() {
        let curve = |discordance| Curve { discordance, difference: 0.0, points: vec![(100, 0.2), (2_000, 0.9)] };
        let svg = power_curves("power", &[curve(0.02), curve(0.05)], 0.95, Some(1_404)).unwrap();
        assert!(svg.starts_with("<svg") && svg.trim_end().ends_with("</svg>"));
        assert!(svg.contains("psi 0.02, difference 0") && svg.contains("psi 0.05, difference 0"));
        // Two curves, the target, the planned size.
        assert!(svg.matches("<polyline").count() >= 4, "{svg}");
    }
}
