// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// Values by hand, from tables of Student's t, and from simulated runs without any difference.
#include "analyzer/diff/shift_test.h"

#include <gtest/gtest.h>

#include <cmath>
#include <random>

#include "analyzer/diff/rates.h"

namespace uscope::analyzer {
namespace {

Counts seconds(std::vector<double> events) {
  return {events, std::vector<double>(events.size(), 1)};
}

TEST(StudentP, IsAsInTables) {
  // Two-sided 5 % and 1 % points for 1, 4, 10 and 30 degrees of freedom.
  EXPECT_NEAR(student_p(12.706, 1), 0.05, 1e-5);
  EXPECT_NEAR(student_p(2.776, 4), 0.05, 5e-5);
  EXPECT_NEAR(student_p(2.228, 10), 0.05, 5e-5);
  EXPECT_NEAR(student_p(2.750, 30), 0.01, 5e-5);
  EXPECT_NEAR(student_p(-4.604, 4), 0.01, 5e-5);
  EXPECT_DOUBLE_EQ(student_p(0, 4), 1);
  // One degree is Cauchy's distribution, two have a closed form.
  EXPECT_NEAR(student_p(1, 1), 0.5, 1e-12);
  EXPECT_NEAR(student_p(3, 2), 1 - 3 / std::sqrt(11.0), 1e-12);
}

TEST(Dispersion, IsWherePearsonsStatisticIsItsDegreesOfFreedom) {
  // Means 10 and 100, one run 10 off each way on the larger: 200 / (100 + phi 10000) = 2 - 0 ... phi = 0.
  EXPECT_DOUBLE_EQ(own_dispersion(seconds({10, 10}), seconds({90, 110})), 0);
  // (2 * 30²) / (100 + phi 10000) = 2: phi = 0.08.
  EXPECT_NEAR(own_dispersion(seconds({10, 10}), seconds({70, 130})), 0.08, 1e-9);
  EXPECT_DOUBLE_EQ(own_dispersion(seconds({10}), seconds({1000})), 0);
  // The same rates over unequal exposures scatter not at all.
  EXPECT_DOUBLE_EQ(own_dispersion({{10, 20, 40}, {1, 2, 4}}, {{7, 7}, {1, 1}}), 0);
}

TEST(CountTest, IsWaldsByHand) {
  // log(400 / 100), variance 2 * (1/300 + 1/1200)... of totals 300 and 1200: 1/300 + 1/1200, phi 0.
  const double t = std::log(4.0) / std::sqrt(1.0 / 300 + 1.0 / 1200);
  EXPECT_NEAR(count_test(seconds({100, 100, 100}), seconds({400, 400, 400}), 0), student_p(t, 4), 1e-15);
  // phi 0.1 adds 0.1 / 3 for each side.
  const double wide = std::log(4.0) / std::sqrt(1.0 / 300 + 1.0 / 1200 + 0.2 / 3);
  EXPECT_NEAR(count_test(seconds({100, 100, 100}), seconds({400, 400, 400}), 0.1), student_p(wide, 4), 1e-12);
  EXPECT_DOUBLE_EQ(count_test(seconds({0, 0, 0}), seconds({0, 0, 0}), 0), 1);
  EXPECT_DOUBLE_EQ(count_test(seconds({5}), seconds({500}), 0), 1);
}

TEST(DurationTest, IsStudentsOfLogarithms) {
  const std::vector<double> before{std::exp(1.0), std::exp(2.0), std::exp(3.0)};
  const std::vector<double> after{std::exp(5.0), std::exp(6.0), std::exp(7.0)};
  EXPECT_NEAR(own_variance(before, after), 1, 1e-12);
  EXPECT_NEAR(duration_test(before, after, 1), student_p(4 / std::sqrt(2.0 / 3), 4), 1e-12);
}

TEST(FalseDiscoveryRates, AreBenjaminiAndHochbergs) {
  // Their paper's example has 15 hypotheses, of which four pass at 5 %.
  const std::vector<double> p{0.0001, 0.0004, 0.0019, 0.0095, 0.0201, 0.0278, 0.0298, 0.0344,
                              0.0459, 0.3240, 0.4262, 0.5719, 0.6528, 0.7590, 1.000};
  const std::vector<double> q = false_discovery_rates(p);
  EXPECT_NEAR(q[0], 0.0015, 1e-12);
  EXPECT_NEAR(q[3], 0.0095 * 15 / 4, 1e-12);
  EXPECT_NEAR(q[4], 0.0201 * 15 / 5, 1e-12);
  EXPECT_LT(q[3], 0.05);
  EXPECT_GT(q[4], 0.05);
  EXPECT_DOUBLE_EQ(q[14], 1);
  EXPECT_TRUE(false_discovery_rates({}).empty());
  EXPECT_NEAR(false_discovery_rates({0.04, 0.01})[0], 0.04, 1e-12);
}

TEST(Median, IsTheMiddle) {
  EXPECT_DOUBLE_EQ(median({}), 0);
  EXPECT_DOUBLE_EQ(median({3, 1, 2}), 2);
  EXPECT_DOUBLE_EQ(median({4, 1, 2, 3}), 2.5);
}

// Cells whose dispersions differ a hundredfold, three runs a side, no difference: hardly any is below 5 %, and after
// the correction none.
TEST(CountTest, KeepsItsPromiseWhereNothingDiffers) {
  std::mt19937 random(7);
  const auto draw = [&](double mean, double phi) {
    std::gamma_distribution<double> gamma(1 / phi, mean * phi);
    std::poisson_distribution<int> poisson(std::max(1e-9, gamma(random)));
    return static_cast<double>(poisson(random));
  };
  std::vector<std::pair<Counts, Counts>> cells;
  std::vector<double> dispersions;
  for (int i = 0; i < 2000; i++) {
    const double mean = std::pow(10, 1 + i % 4);
    const double phi = std::pow(10, -3 + (i / 4) % 3);
    Counts sides[2];
    for (Counts& side : sides)
      for (int run = 0; run < 3; run++) {
        side.events.push_back(draw(mean, phi));
        side.exposure.push_back(1);
      }
    dispersions.push_back(own_dispersion(sides[0], sides[1]));
    cells.emplace_back(sides[0], sides[1]);
  }
  const double shared = median(dispersions);
  std::vector<double> p;
  int below = 0;
  for (std::size_t i = 0; i < cells.size(); i++) {
    p.push_back(count_test(cells[i].first, cells[i].second, std::max(shared, dispersions[i])));
    below += p.back() < 0.05;
  }
  EXPECT_LE(below, 100);
  int discovered = 0;
  for (const double q : false_discovery_rates(p)) discovered += q < 0.05;
  EXPECT_EQ(discovered, 0);
}

TEST(Rates, NearestRunsDecideWithoutATest) {
  const Rates apart{seconds({10, 12, 20}), seconds({50})};
  EXPECT_DOUBLE_EQ(apart.nearest_ratio(), 2.5);
  EXPECT_NEAR(apart.ratio(), 50 / 14.0, 1e-12);
  EXPECT_NEAR(apart.excess(), 36, 1e-12);
  EXPECT_DOUBLE_EQ((Rates{seconds({10, 60}), seconds({50})}).nearest_ratio(), 1);
  EXPECT_DOUBLE_EQ((Rates{seconds({40, 60}), seconds({10})}).nearest_ratio(), 0.25);
}

TEST(Rates, RunsWithoutExposureSayNothing) {
  Rates rates{{{0, 5}, {0, 10}}, {{1, 0}, {4, 0}}};
  EXPECT_TRUE(rates.drop_unexposed());
  EXPECT_DOUBLE_EQ(rates.ratio(), 0.5);
  Rates none{{{0}, {0}}, {{1}, {4}}};
  EXPECT_FALSE(none.drop_unexposed());
}

}  // namespace
}  // namespace uscope::analyzer
